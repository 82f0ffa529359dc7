"""First commit, then close; what is only in memory is lost in any case."""

import os
import sqlite3
import tempfile

with tempfile.TemporaryDirectory() as folder:
    connection = sqlite3.connect(os.path.join(folder, "names.db"))
    connection.execute("create table names (name text)")
    with connection:
        connection.execute("insert into names values ('ada')")
    connection.close()

scratch = sqlite3.connect(":memory:")
scratch.execute("create table names (name text)")
scratch.execute("insert into names values ('ada')")
scratch.close()
