"""Who is a daemon is known before the start."""

import threading

thread = threading.Thread(target=dict)
thread.daemon = True
thread.start()
thread.join()
