"""The thread that is waited for was never started."""

import threading

thread = threading.Thread(target=dict)
try:
    thread.join()  # violation
except RuntimeError:
    pass
