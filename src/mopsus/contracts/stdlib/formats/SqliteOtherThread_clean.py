"""Every thread has a connection of its own."""

import sqlite3
import threading


def work():
    connection = sqlite3.connect(":memory:")
    connection.execute("select 1")
    connection.close()


worker = threading.Thread(target=work)
worker.start()
worker.join()
work()
