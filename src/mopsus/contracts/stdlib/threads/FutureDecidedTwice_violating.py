"""A job that was done fails afterwards."""

from concurrent.futures import Future, InvalidStateError

job = Future()
job.set_result("done")
try:
    job.set_exception(OSError("too late"))  # violation
except InvalidStateError:
    pass
