"""A request to end is answered in the thread that serves; an alarm ends the wait."""

import signal
import socket
import socketserver


class Handler(socketserver.BaseRequestHandler):
    def handle(self):
        try:
            self.server.shutdown()  # violation
        except TimeoutError:
            raise KeyboardInterrupt from None


def wake_up(number, frame):
    raise TimeoutError


signal.signal(signal.SIGALRM, wake_up)
with socketserver.TCPServer(("127.0.0.1", 0), Handler) as server:
    client = socket.create_connection(server.server_address)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        server.serve_forever(poll_interval=0.01)
    except KeyboardInterrupt:
        pass
    client.close()
