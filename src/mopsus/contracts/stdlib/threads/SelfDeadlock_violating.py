"""A function that holds a lock calls another one that wants it; an alarm ends the wait."""

import signal
import threading

lock = threading.Lock()


def balance():
    with lock:  # violation
        return 0


def wake_up(number, frame):
    raise TimeoutError


signal.signal(signal.SIGALRM, wake_up)
with lock:
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        balance()
    except TimeoutError:
        pass
