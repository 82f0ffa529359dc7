"""Programs in C, C++ and whatever else GDB reads. Everything here but `launch` runs inside GDB's own Python, so it
imports the standard library, our own stages and `gdb`, and nothing else."""
