"""What has been served is taken out while the queue is gone over."""

from collections import deque

queue = deque(["ada", "grace", "mary"])
try:
    for name in queue:  # violation
        queue.remove(name)
except RuntimeError:
    pass
