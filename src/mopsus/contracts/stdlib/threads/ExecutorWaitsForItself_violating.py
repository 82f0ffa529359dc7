"""The only thread waits for what it has yet to do; a time limit ends the wait."""

from concurrent.futures import ThreadPoolExecutor, TimeoutError

with ThreadPoolExecutor(max_workers=1) as executor:

    def outer():
        inner = executor.submit(pow, 2, 10)
        try:
            return inner.result(timeout=0.01)  # violation
        except TimeoutError:
            return None

    executor.submit(outer).result()
