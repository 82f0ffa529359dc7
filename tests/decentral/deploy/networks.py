"""Hosts as they are meant to be: processes in networks of their own, which reach nothing but a relay."""

from __future__ import annotations

import contextlib
import itertools
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from bus.servers import TOKEN

MOPSUS = str(Path(sys.executable).with_name("mopsus"))
ENVIRONMENT = {**os.environ, "MOPSUS_TOKEN": TOKEN}

_numbers = itertools.count()


@contextlib.contextmanager
def network():
    """A network namespace with a cable to this one: what begins a command in it, its address, and that of this end."""
    number = next(_numbers)
    name = f"mopsus-{os.getpid()}-{number}"
    here, there = f"mo{os.getpid()}h{number}", f"mo{os.getpid()}t{number}"
    prefix = f"10.{128 + os.getpid() // 64 % 128}.{os.getpid() % 64 * 4 + number // 64 % 4}.{number % 64 * 4}"
    first = prefix.rpartition(".")[0] + "."
    last = int(prefix.rpartition(".")[2])
    inside = ("ip", "netns", "exec", name)
    made = subprocess.run(["ip", "netns", "add", name], stderr=subprocess.PIPE, text=True)
    if made.returncode:
        pytest.skip(f"networks cannot be made here: {made.stderr.strip()}")
    try:
        for command in (
            ("ip", "link", "add", here, "type", "veth", "peer", there, "netns", name),
            ("ip", "address", "add", f"{first}{last + 1}/30", "dev", here),
            ("ip", "link", "set", here, "up"),
            (*inside, "ip", "address", "add", f"{first}{last + 2}/30", "dev", there),
            (*inside, "ip", "link", "set", there, "up"),
            (*inside, "ip", "link", "set", "lo", "up"),
        ):
            subprocess.run(command, check=True)
        yield inside, f"{first}{last + 2}", f"{first}{last + 1}"
    finally:
        subprocess.run(["ip", "netns", "delete", name], check=True)


class Process:
    """A `mopsus` command that runs until it is ended, and says on standard error when it is ready."""

    def __init__(self, *command, ready, prefix=(), cwd=None):
        self._process = subprocess.Popen(
            [*prefix, MOPSUS, *command], stderr=subprocess.PIPE, text=True, env=ENVIRONMENT, cwd=cwd
        )
        self.said = ""
        while ready not in self.said:
            line = self._process.stderr.readline()
            assert line, f"{command} ended: {self.said}"
            self.said += line

    @property
    def pid(self):
        return self._process.pid

    def kill(self):
        """As `kill -9` does."""
        self._process.kill()
        self._process.communicate()

    def signal(self, number):
        self._process.send_signal(number)

    def end(self):
        """What it said in all."""
        if self._process.poll() is None:
            self._process.terminate()
            self.said += self._process.communicate()[1]
        return self.said


@contextlib.contextmanager
def relay(server, *options):
    """A relay before a server: its process, and its port on all addresses of this network."""
    process = Process("simulate", "relay", "--bus", server.url, "--listen", "0.0.0.0:0", *options, ready="relay at")
    try:
        yield process, int(process.said.rpartition(":")[2])
    finally:
        process.end()


class Machine:
    """A host in a network and a folder of its own."""

    def __init__(self, name, folder, inside, address, bus):
        self.name = name
        self.folder = folder
        self.address = address
        self._inside = inside
        self._bus = bus
        self.start()

    def start(self):
        command = ("simulate", "host", self.name, "--bus", self._bus, "--journal", "journals")
        self.process = Process(*command, ready="is ready", prefix=self._inside, cwd=self.folder)

    def journal(self, session):
        """The journal of a run that it has begun."""
        (path,) = (self.folder / "journals").glob(f"{session}.*")
        return path


@contextlib.contextmanager
def machine(name, folder, port):
    """A host that reaches a relay at a port, and nothing else."""
    folder = folder / name
    folder.mkdir()
    with network() as (inside, address, gate):
        made = Machine(name, folder, inside, address, f"nats://{gate}:{port}")
        try:
            yield made
        finally:
            made.process.end()


def until(condition, limit_s=60):
    """Wait for something that other processes do."""
    end = time.monotonic() + limit_s
    while not (found := condition()):
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.005)
    return found
