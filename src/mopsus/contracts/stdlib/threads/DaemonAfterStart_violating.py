"""A thread is made a daemon when it already runs."""

import threading

done = threading.Event()
thread = threading.Thread(target=done.wait)
thread.start()
try:
    thread.daemon = True  # violation
except RuntimeError:
    pass
done.set()
thread.join()
