"""All jobs are submitted before the end of the block."""

from concurrent.futures import ThreadPoolExecutor

with ThreadPoolExecutor(1) as workers:
    jobs = [workers.submit(dict) for _ in range(3)]
for job in jobs:
    job.result()
workers.shutdown()
