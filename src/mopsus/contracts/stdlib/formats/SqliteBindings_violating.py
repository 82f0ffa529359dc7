"""A text instead of a tuple with a text: each letter counts."""

import sqlite3

connection = sqlite3.connect(":memory:")
try:
    connection.execute("select ?", "word")  # violation
except sqlite3.ProgrammingError:
    pass
connection.close()
