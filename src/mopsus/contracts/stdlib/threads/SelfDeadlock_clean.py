"""A lock is taken again after it was given back, and a condition gives its lock back while it waits."""

import threading

lock = threading.Lock()
with lock:
    pass
with lock:
    pass
condition = threading.Condition(lock)
with condition:
    condition.wait(timeout=0.01)
