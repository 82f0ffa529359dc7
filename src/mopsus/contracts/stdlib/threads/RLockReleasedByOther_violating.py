"""A helper cannot release the lock of another thread."""

import threading

lock = threading.RLock()


def help_out():
    try:
        lock.release()  # violation
    except RuntimeError:
        pass


with lock:
    helper = threading.Thread(target=help_out)
    helper.start()
    helper.join()
