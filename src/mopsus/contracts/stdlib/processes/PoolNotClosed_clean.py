"""A block ends with the pool."""

from multiprocessing.pool import ThreadPool

with ThreadPool(1) as pool:
    pool.map(abs, [1, 2])
