"""Every place that was taken is given back once."""

import threading

places = threading.BoundedSemaphore(2)
places.acquire()
places.acquire()
places.release(2)
