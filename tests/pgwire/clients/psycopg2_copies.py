# What a program with psycopg2 does with COPY and with named cursors; each line it prints is looked
# at by tables_test.cc.
import io
import sys

import psycopg2

connection = psycopg2.connect(sys.argv[1])
connection.autocommit = True
cursor = connection.cursor()
cursor.execute("CREATE TABLE many (id BIGINT, name VARCHAR)")
rows = "".join(f"{i}\tname {i}\n" for i in range(100000))
cursor.copy_expert("COPY many FROM STDIN", io.StringIO(rows))
cursor.execute("SELECT count(*), sum(id)::bigint FROM many")
print(*cursor.fetchone())


class Failing:
    def read(self, size=-1):
        raise ValueError("no more")


try:
    cursor.copy_expert("COPY many FROM STDIN", Failing())
except psycopg2.Error as error:
    code = error.pgcode
cursor.execute("SELECT count(*) FROM many")
print(code, cursor.fetchone()[0])

connection.autocommit = False
named = connection.cursor("portions")
named.itersize = 1000
named.execute("SELECT id FROM many ORDER BY id")
print(named.fetchmany(2))
print(sum(1 for _ in named), [column.name for column in named.description])
connection.commit()


def failed(text):
    try:
        cursor.execute(text)
    except psycopg2.Error as error:
        connection.rollback()
        return error.pgcode


print(failed("FETCH 1 FROM portions"))
connection.autocommit = True
print(failed("DECLARE c CURSOR FOR SELECT 1"))
held = connection.cursor("held", withhold=True)
held.execute("SELECT id FROM many WHERE id IN (3, 4) ORDER BY id")
print(held.fetchall())
held.close()
connection.autocommit = False
try:
    cursor.execute("SELECT * FROM readings")
except psycopg2.Error as error:
    print(error.pgcode, "autocommit" in error.diag.message_hint)
connection.rollback()
