"""Everything that concerns the condition happens while its lock is held."""

import threading

condition = threading.Condition()
items = []


def take():
    with condition:
        while not items:
            condition.wait()
        items.pop()


taker = threading.Thread(target=take)
taker.start()
with condition:
    items.append(1)
    condition.notify_all()
taker.join()
