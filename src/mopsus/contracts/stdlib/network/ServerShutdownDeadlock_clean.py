"""Another thread shuts the server down."""

import socketserver
import threading

with socketserver.TCPServer(("127.0.0.1", 0), socketserver.BaseRequestHandler) as server:
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    server.shutdown()
    thread.join()
