"""The row never comes to the disk."""

import sqlite3

connection = sqlite3.connect(":memory:")
connection.execute("create table names (name text)")
connection.execute("insert into names values ('ada')")
connection.close()  # violation
