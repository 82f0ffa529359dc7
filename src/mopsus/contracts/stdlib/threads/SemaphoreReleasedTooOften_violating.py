"""A place is given back twice."""

import threading

places = threading.BoundedSemaphore(2)
places.acquire()
places.release()
try:
    places.release()  # violation
except ValueError:
    pass
