"""A worker wants to hear of interruptions."""

import signal
import threading


def work():
    try:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # violation
    except ValueError:
        pass


worker = threading.Thread(target=work)
worker.start()
worker.join()
