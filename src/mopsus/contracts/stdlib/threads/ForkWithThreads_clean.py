"""A process is forked when the other threads are done."""

import os
import threading

thread = threading.Thread(target=dict)
thread.start()
thread.join()
child = os.fork()
if child == 0:
    os.execvp("true", ["true"])
os.waitpid(child, 0)
