"""A worker uses the connection of the main thread."""

import sqlite3
import threading

connection = sqlite3.connect(":memory:")


def work():
    try:
        connection.execute("select 1")  # violation
    except sqlite3.ProgrammingError:
        pass


worker = threading.Thread(target=work)
worker.start()
worker.join()
connection.close()
