"""A process is forked while a thread works."""

import os
import threading

done = threading.Event()
thread = threading.Thread(target=done.wait)
thread.start()
child = os.fork()  # violation
if child == 0:
    os.execvp("true", ["true"])
os.waitpid(child, 0)
done.set()
thread.join()
