# What a program with psycopg2 does; each line it prints is looked at by drivers_test.cc.
import io
import sys
import threading

import psycopg2

connection = psycopg2.connect(sys.argv[1])
cursor = connection.cursor()
cursor.execute("SELECT name, used, draining FROM baton.workers WHERE name = %s", ("HUB",))
print(cursor.fetchall(), [column[0] for column in cursor.description])
cursor.execute("SELECT 1")
print(cursor.fetchone())
connection.commit()

cursor.execute("CREATE LOGICAL SOURCE py (a INT8)")
connection.rollback()
cursor.execute("SELECT name FROM baton.logical_sources")
print(cursor.fetchall())
connection.commit()

for statement in ("SELECT nme FROM baton.workers", "SHOW LINKS"):
    try:
        cursor.execute(statement)
    except psycopg2.Error as error:
        print(error.pgcode, type(error).__name__, error.diag.statement_position)
connection.rollback()

cursor.execute("SELECT name FROM baton.workers WHERE name <> %s", ("it's a \\ and\na line",))
print(len(cursor.fetchall()))
connection.rollback()

connection.autocommit = True
copied = io.StringIO()
cursor.copy_expert("COPY (SELECT name, kind FROM baton.workers) TO STDOUT (FORMAT csv)", copied)
print(copied.getvalue().split())

threading.Timer(0.3, connection.cancel).start()
try:
    cursor.execute("WATCH SHOW WORKERS")
except psycopg2.Error as error:
    print(error.pgcode, type(error).__name__)
connection.set_session(isolation_level="SERIALIZABLE", autocommit=False)
cursor.execute("SHOW LINKS")
print(cursor.fetchall())
connection.commit()
connection.close()
