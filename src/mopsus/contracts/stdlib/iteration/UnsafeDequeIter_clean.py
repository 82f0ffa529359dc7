"""A queue is emptied from one end."""

from collections import deque

queue = deque(["ada", "grace", "mary"])
for name in queue:
    if name == "grace":
        queue.remove(name)
        break
while queue:
    queue.popleft()
