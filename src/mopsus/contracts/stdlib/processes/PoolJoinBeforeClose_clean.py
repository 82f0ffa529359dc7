"""First close, then join."""

from multiprocessing.pool import ThreadPool

pool = ThreadPool(1)
pool.apply(dict)
pool.close()
pool.join()
