"""Every process is waited for, by hand or at the end of a block."""

import os
import subprocess
import sys

process = subprocess.Popen([sys.executable, "-c", ""])
process.wait()
del process
with subprocess.Popen([sys.executable, "-c", ""]):
    pass
subprocess.run([sys.executable, "-c", ""], check=True)

# Whoever asks the system himself says what came out.
process = subprocess.Popen([sys.executable, "-c", ""])
_, status = os.waitpid(process.pid, 0)
process.returncode = os.waitstatus_to_exitcode(status)
del process
