"""The constructor of a subclass calls that of its base."""

import threading


class Worker(threading.Thread):
    def __init__(self, job):
        super().__init__()
        self.job = job

    def run(self):
        self.job()


worker = Worker(dict)
worker.start()
worker.join()
