"""First read, then wait; communicate() does both."""

import subprocess
import sys

process = subprocess.Popen([sys.executable, "-c", "print(1)"], stdout=subprocess.PIPE)
process.stdout.read()
process.wait()
process.stdout.close()
other = subprocess.Popen([sys.executable, "-c", "print(1)"], stdout=subprocess.PIPE)
other.communicate()
