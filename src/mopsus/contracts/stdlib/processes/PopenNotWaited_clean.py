"""Every process is waited for, by hand or at the end of a block."""

import subprocess
import sys

process = subprocess.Popen([sys.executable, "-c", ""])
process.wait()
del process
with subprocess.Popen([sys.executable, "-c", ""]):
    pass
subprocess.run([sys.executable, "-c", ""], check=True)
