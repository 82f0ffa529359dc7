"""A lock is released on a way on which it was not acquired."""

import threading

lock = threading.Lock()
with lock:
    pass
try:
    lock.release()  # violation
except RuntimeError:
    pass
