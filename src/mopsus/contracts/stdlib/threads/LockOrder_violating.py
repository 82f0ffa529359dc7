"""Two accounts, and two transfers in opposite directions; this time, they did not meet."""

import threading

ada, emmy = threading.Lock(), threading.Lock()
first_is_done, over = threading.Event(), threading.Event()


def there():
    with ada, emmy:
        pass
    first_is_done.set()
    over.wait()


def back():
    first_is_done.wait()
    with emmy:
        with ada:  # violation
            pass
    over.set()


threads = [threading.Thread(target=there), threading.Thread(target=back)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
