"""One item is said to be done twice."""

import queue

jobs = queue.Queue()
jobs.put("wash")
jobs.get()
jobs.task_done()
try:
    jobs.task_done()  # violation
except ValueError:
    pass
