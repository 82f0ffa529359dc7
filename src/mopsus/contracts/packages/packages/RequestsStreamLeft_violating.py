"""The body is never read."""

import http.server
import threading

import requests


class Hello(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"hello")

    def log_message(self, *arguments):
        pass


def status(url):
    with requests.Session() as session:
        return session.get(url, stream=True, timeout=5).status_code  # violation


with http.server.HTTPServer(("127.0.0.1", 0), Hello) as server:
    thread = threading.Thread(target=server.handle_request)
    thread.start()
    status(f"http://127.0.0.1:{server.server_port}/")
    thread.join()
