"""As many values as placeholders; names have their values by name."""

import sqlite3

connection = sqlite3.connect(":memory:")
connection.execute("select ?", ("word",))
connection.execute("select :word", {"word": "word"})
connection.close()
