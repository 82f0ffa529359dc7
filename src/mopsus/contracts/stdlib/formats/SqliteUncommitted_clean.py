"""First commit, then close."""

import sqlite3

connection = sqlite3.connect(":memory:")
connection.execute("create table names (name text)")
with connection:
    connection.execute("insert into names values ('ada')")
connection.close()
