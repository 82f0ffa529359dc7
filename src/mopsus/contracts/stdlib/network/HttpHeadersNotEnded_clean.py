"""The headers are ended."""

import http.client
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(204)
        self.send_header("X-Mood", "fine")
        self.end_headers()

    def log_message(self, *arguments):
        pass


with HTTPServer(("localhost", 0), Handler) as server:
    thread = threading.Thread(target=server.handle_request)
    thread.start()
    connection = http.client.HTTPConnection(*server.server_address)
    connection.request("GET", "/")
    connection.getresponse().read()
    connection.close()
    thread.join()
