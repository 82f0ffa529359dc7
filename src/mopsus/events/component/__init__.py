"""Stage 4: events of components that run side by side: threads, tasks, processes, actors. They fork, begin, exit, send
and receive; the same property can be checked where it happens, in another process, or from a log."""
