"""Nobody asks how the process has ended."""

import subprocess
import sys


def notify():
    subprocess.Popen([sys.executable, "-c", ""])  # violation


notify()
