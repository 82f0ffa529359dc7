"""The rows are taken while the database is open."""

import sqlite3

connection = sqlite3.connect(":memory:")
rows = connection.execute("select 1").fetchall()
connection.close()
