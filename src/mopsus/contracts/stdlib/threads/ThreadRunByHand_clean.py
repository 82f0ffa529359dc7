"""A thread runs by itself; its class may have a run() of its own that calls the inherited one."""

import threading


class Worker(threading.Thread):
    def run(self):
        super().run()


worker = Worker(target=print, args=("working",))
worker.start()
worker.join()
