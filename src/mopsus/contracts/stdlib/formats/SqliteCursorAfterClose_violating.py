"""The rows are asked for when the database is closed."""

import sqlite3

connection = sqlite3.connect(":memory:")
rows = connection.execute("select 1")
connection.close()
try:
    rows.fetchall()  # violation
except sqlite3.ProgrammingError:
    pass
