"""A copy is gone over; or something is taken until nothing is left."""

open_jobs = {1, 2, 3}
for job in set(open_jobs):
    open_jobs.remove(job)
open_jobs = {1, 2, 3}
while open_jobs:
    open_jobs.pop()
