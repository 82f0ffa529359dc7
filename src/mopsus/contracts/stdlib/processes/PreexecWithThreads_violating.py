"""A child begins with code of the parent, while another thread may hold any lock."""

import os
import subprocess
import sys
import threading

over = threading.Event()
worker = threading.Thread(target=over.wait)
worker.start()
subprocess.run([sys.executable, "-c", ""], preexec_fn=os.getpid)  # violation
over.set()
worker.join()
