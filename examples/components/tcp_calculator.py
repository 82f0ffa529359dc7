"""A calculator that is asked over TCP, a line for each request; every connection is served by a thread of its own.

python tcp_calculator.py            python tcp_calculator.py wrong
"""

from __future__ import annotations

import socket
import sys
import threading


def serve(connection: socket.socket, wrong: bool) -> None:
    """Answer one client until it goes away."""
    with connection:
        while request := connection.recv(1024).decode():
            name, *numbers = request.split()
            a, b = map(int, numbers)
            result = a + b - wrong if name == "add" else a * b
            connection.sendall(f"ok {result}".encode())


def accept(server: socket.socket, wrong: bool) -> None:
    """Take two clients."""
    for _ in range(2):
        connection, _ = server.accept()
        threading.Thread(target=serve, args=(connection, wrong)).start()


def main(wrong: bool) -> None:
    """A server, and two clients that ask it something."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        acceptor = threading.Thread(target=accept, args=(server, wrong))
        acceptor.start()
        for request in ("add 10 97", "multiply 6 7"):
            with socket.create_connection(server.getsockname()) as client:
                client.sendall(request.encode())
                print(client.recv(1024).decode())
        acceptor.join()


if __name__ == "__main__":
    main(sys.argv[1:] == ["wrong"])
