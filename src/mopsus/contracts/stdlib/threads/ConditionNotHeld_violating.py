"""Others are notified when the lock has been given back already."""

import threading

condition = threading.Condition()
items = []
with condition:
    items.append(1)
    condition.notify()
try:
    condition.notify()  # violation
except RuntimeError:
    pass
