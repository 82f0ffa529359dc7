"""With more output than a pipe holds, this would never end."""

import subprocess
import sys

process = subprocess.Popen([sys.executable, "-c", "print(1)"], stdout=subprocess.PIPE)
process.wait()
process.stdout.read()  # violation
process.stdout.close()
