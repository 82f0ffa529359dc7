"""Where there are as many as before, Python itself does not notice."""

open_jobs = {1, 2, 3}
for job in open_jobs:  # violation
    open_jobs.remove(job)
    open_jobs.add(job + 8)
    if len(open_jobs) > 3 or job > 20:
        break
