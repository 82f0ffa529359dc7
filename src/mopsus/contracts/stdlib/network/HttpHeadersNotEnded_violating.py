"""A response without an end, and so without a beginning."""

import http.client
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(204)  # violation
        self.send_header("X-Mood", "fine")

    def log_message(self, *arguments):
        pass


with HTTPServer(("localhost", 0), Handler) as server:
    thread = threading.Thread(target=server.handle_request)
    thread.start()
    connection = http.client.HTTPConnection(*server.server_address)
    connection.request("GET", "/")
    try:
        connection.getresponse()
    except http.client.BadStatusLine:
        pass
    connection.close()
    thread.join()
