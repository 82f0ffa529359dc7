"""An option does the same; and with one thread, the function does no harm."""

import os
import subprocess
import sys
import threading

subprocess.run([sys.executable, "-c", ""], preexec_fn=os.getpid)
over = threading.Event()
worker = threading.Thread(target=over.wait)
worker.start()
subprocess.run([sys.executable, "-c", ""], start_new_session=True)
over.set()
worker.join()
