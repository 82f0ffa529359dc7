"""Every piece of work has a thread of its own."""

import threading

for _ in range(2):
    thread = threading.Thread(target=dict)
    thread.start()
    thread.join()
