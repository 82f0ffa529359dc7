"""The row never comes to the disk."""

import os
import sqlite3
import tempfile

with tempfile.TemporaryDirectory() as folder:
    connection = sqlite3.connect(os.path.join(folder, "names.db"))
    connection.execute("create table names (name text)")
    connection.execute("insert into names values ('ada')")
    connection.close()  # violation
