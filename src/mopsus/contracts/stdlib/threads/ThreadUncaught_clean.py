"""An error is caught, and told to those who wait; leaving by SystemExit is no error."""

import queue
import threading

results = queue.Queue()


def work():
    try:
        raise OSError("no paper")
    except OSError as error:
        results.put(error)
    raise SystemExit


worker = threading.Thread(target=work)
worker.start()
worker.join()
assert isinstance(results.get(), OSError)
