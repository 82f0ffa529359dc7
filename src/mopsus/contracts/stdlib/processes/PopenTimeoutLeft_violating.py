"""Nobody waits any longer, and the process goes on for ever."""

import subprocess
import sys


def ask():
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1)"], stdout=subprocess.PIPE)
    with process.stdout:
        try:
            process.communicate(timeout=0.01)  # violation
        except subprocess.TimeoutExpired:
            pass


ask()
