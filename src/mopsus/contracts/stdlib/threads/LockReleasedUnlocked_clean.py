"""What was acquired is released, in another thread if need be."""

import threading

lock = threading.Lock()
with lock:
    pass
lock.acquire()
helper = threading.Thread(target=lock.release)
helper.start()
helper.join()
