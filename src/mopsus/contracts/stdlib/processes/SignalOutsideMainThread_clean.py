"""The main thread sets handlers."""

import signal

before = signal.signal(signal.SIGINT, signal.SIG_DFL)
signal.signal(signal.SIGINT, before)
