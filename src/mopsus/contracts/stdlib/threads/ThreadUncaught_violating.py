"""The work is not done, and the program goes on as if it were."""

import threading


def work():
    raise OSError("no paper")


worker = threading.Thread(target=work)
worker.start()  # violation
worker.join()
PRINTED = True
