"""Every acquire has its release in the same thread."""

import threading

lock = threading.RLock()
with lock, lock:
    pass
lock.acquire()
lock.release()
