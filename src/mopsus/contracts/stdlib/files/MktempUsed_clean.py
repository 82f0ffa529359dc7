"""The file comes with its name; multiprocessing has a directory of its own for its sockets."""

import os
import tempfile
from multiprocessing.connection import Listener

number, path = tempfile.mkstemp()
os.close(number)
os.unlink(path)
Listener(family="AF_UNIX").close()
