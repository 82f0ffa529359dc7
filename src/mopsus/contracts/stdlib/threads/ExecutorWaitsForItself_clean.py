"""The main thread waits, or an executor for another one."""

from concurrent.futures import ThreadPoolExecutor

with ThreadPoolExecutor() as first, ThreadPoolExecutor() as second:

    def outer():
        return second.submit(pow, 2, 10).result()

    first.submit(outer).result()
