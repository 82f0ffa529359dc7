"""Every item is done once."""

import queue

jobs = queue.Queue()
for job in ("wash", "dry"):
    jobs.put(job)
for _ in range(2):
    jobs.get()
    jobs.task_done()
jobs.join()
