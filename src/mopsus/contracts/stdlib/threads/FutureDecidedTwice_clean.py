"""Every job ends in one way."""

from concurrent.futures import Future, ThreadPoolExecutor

job = Future()
job.set_result("done")
with ThreadPoolExecutor(1) as workers:
    workers.submit(dict).result()
