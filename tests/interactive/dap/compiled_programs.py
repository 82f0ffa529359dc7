"""Compiled programs for an editor to debug, and how they are held up."""

import os
from contextlib import contextmanager

QUEUE = """\
#include <stdio.h>
struct point { int x, y; unsigned flag : 3, rest : 4; };
static int total = 5;
int push(int queue, int value) {
    int doubled = value * 2;
    total += doubled;
    return doubled;
}
int main(int argc, char **argv) {
    struct point place = {1, 2, 3};
    struct point *there = &place;
    int list[3] = {7, 8, 9};
    const char *name = "tea";
    printf("%d of %s\\n", argc - 1, argc > 1 ? argv[1] : "none");
    for (int i = 0; i < 5; i++)
        push(1, i);
    printf("%d %d %d %s %d\\n", total, place.x, list[0], name, there->flag);
    return 3;
}
"""

SMALL = """\
slice on queue
initialization { pushed = 0 }
state init {
    transition { event push(queue, value) { return value < 3 } success { pushed += 1 } init failure bad }
}
state bad non-accepting
"""

LOOP = """\
#include <unistd.h>
#include <signal.h>
volatile int go = 1, rounds = 0;
void once(void) { rounds++; usleep(1000); }
void many(void) { while (go) once(); }
int main(void) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, 0);
    write(1, "ready\\n", 6);
    many();
    return rounds > 0 ? 7 : 8;
}
"""


def source(program):
    return program.with_name("program.c")


@contextmanager
def gate_at(path):
    """A pipe that a program reads from, which goes on when this is called. Nobody waits here, whoever is gone."""
    os.mkfifo(path)
    held = os.open(path, os.O_RDWR)
    try:
        yield lambda: os.write(held, b"!")
    finally:
        os.close(held)
