# What a program with psycopg2 does with tables; each line it prints is looked at by tables_test.cc.
import datetime
import decimal
import sys

import psycopg2

connection = psycopg2.connect(sys.argv[1])
connection.autocommit = True
cursor = connection.cursor()
cursor.execute(
    "CREATE TABLE kinds (b BOOLEAN, s SMALLINT, i INTEGER, l BIGINT, r REAL, d DOUBLE PRECISION,"
    " n NUMERIC(10,2), t VARCHAR, y BYTEA, a DATE, p TIMESTAMP, z TIMESTAMPTZ)"
)
cursor.execute(
    "INSERT INTO kinds VALUES (true, -2, 3, 4, 1.5, 0.1, %s, %s, NULL, %s, %s, %s)",
    (
        decimal.Decimal("-12.30"),
        "ä's",
        datetime.date(2026, 1, 2),
        datetime.datetime(2026, 1, 2, 3, 4, 5, 600000),
        datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.timezone.utc),
    ),
)
cursor.execute("SELECT * FROM kinds")
print([column.type_code for column in cursor.description])
print([column.precision for column in cursor.description][6], cursor.description[6].scale)
print(
    [bytes(value) if isinstance(value, memoryview) else value for value in cursor.fetchone()]
)
cursor.execute("SELECT [1, NULL, 3] AS a, ['x y', NULL] AS b, TIME '01:02:03' AS c,"
               " INTERVAL '1 day' AS d, sum(l) AS e, {'k': 1} AS f FROM kinds")
print(cursor.fetchone())
cursor.execute("SELECT count(*), l + 1, max(i), l::int FROM kinds GROUP BY l")
print([column.name for column in cursor.description], cursor.fetchall())
connection.close()
