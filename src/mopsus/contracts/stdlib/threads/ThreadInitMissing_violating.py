"""The constructor of a subclass forgets that of its base."""

import threading


class Worker(threading.Thread):
    def __init__(self, job):
        self.job = job


worker = Worker(dict)
try:
    worker.start()  # violation
except RuntimeError:
    pass
