"""A job comes when the workers have gone home."""

from concurrent.futures import ThreadPoolExecutor

with ThreadPoolExecutor(1) as workers:
    workers.submit(dict).result()
try:
    workers.submit(dict)  # violation
except RuntimeError:
    pass
