"""The main thread ends the program."""

import sys
import threading

worker = threading.Thread(target=print)
worker.start()
worker.join()
sys.exit()
