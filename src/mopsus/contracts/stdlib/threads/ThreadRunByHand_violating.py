"""Nothing happens at the same time."""

import threading

worker = threading.Thread(target=print, args=("working",))
worker.run()  # violation
