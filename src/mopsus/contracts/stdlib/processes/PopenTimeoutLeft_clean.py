"""The process is killed and waited for."""

import subprocess
import sys

process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(9)"], stdout=subprocess.PIPE)
try:
    process.communicate(timeout=0.01)
except subprocess.TimeoutExpired:
    process.kill()
    process.communicate()
del process
