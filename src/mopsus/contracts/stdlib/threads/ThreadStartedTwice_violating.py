"""A thread that has done its work is to do it once more."""

import threading

thread = threading.Thread(target=dict)
thread.start()
thread.join()
try:
    thread.start()  # violation
except RuntimeError:
    pass
