"""Functions of the system as they were before the watched program ran.

A program may put something else in the place of any function, and tests do it all the time: `mock.patch("os.stat")`.
Code of ours that runs in the midst of a program takes functions that are often replaced from here. So it gets what it
needs, and the program sees no calls but its own.
"""

from __future__ import annotations

import os
import sys
import threading

environ = os.environ
open_file = open
open_descriptor = os.open
write = os.write
close = os.close
stat = os.stat
listdir = os.listdir
makedirs = os.makedirs
rename_over = os.replace
unlink = os.unlink
symlink = os.symlink
readlink = os.readlink
getpid = os.getpid
getuid = os.getuid
getcwd = os.getcwd
urandom = os.urandom
isabs = os.path.isabs
expanduser = os.path.expanduser
realpath = os.path.realpath
frame_above = sys._getframe
current_thread = threading.current_thread
main_thread = threading.main_thread
