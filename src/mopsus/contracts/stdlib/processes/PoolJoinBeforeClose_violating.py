"""The workers are waited for, but nobody has told them that there is no more work."""

from multiprocessing.pool import ThreadPool

pool = ThreadPool(1)
pool.apply(dict)
try:
    pool.join()  # violation
except ValueError:
    pass
pool.terminate()
