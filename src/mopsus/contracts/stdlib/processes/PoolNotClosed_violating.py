"""The workers of a pool wait for jobs that never come."""

from multiprocessing.pool import ThreadPool


def double(numbers):
    pool = ThreadPool(1)  # violation
    return pool.map(abs, numbers)


double([1, 2])
