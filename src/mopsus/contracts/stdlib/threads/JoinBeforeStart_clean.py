"""First start, then join, if need be twice."""

import threading

thread = threading.Thread(target=dict)
thread.start()
thread.join()
thread.join(timeout=1)
