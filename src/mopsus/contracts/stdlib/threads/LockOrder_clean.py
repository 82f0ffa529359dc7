"""One thread does as it likes; others keep to an order, or hold a third lock, or do not wait, or live one after the other."""

import threading

ada, emmy, bank = threading.RLock(), threading.RLock(), threading.Lock()
mary, grace = threading.Lock(), threading.Lock()
changed = threading.Condition()


def there():
    with bank, ada, emmy:
        pass
    with mary, grace:
        pass
    with changed:
        changed.notify_all()


def back():
    with bank:
        with emmy, ada, emmy:
            pass
    with grace:
        if mary.acquire(blocking=False):
            mary.release()


with grace, mary:
    pass
for work in (there, back):
    with changed:
        thread = threading.Thread(target=work)
        thread.start()
        if work is there:
            changed.wait()
    thread.join()
