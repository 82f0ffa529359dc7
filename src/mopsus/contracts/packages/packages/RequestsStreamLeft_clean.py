"""A block closes the response, or what is below it is read to the end."""

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
    with requests.Session() as session, session.get(url, stream=True, timeout=5) as response:
        return response.status_code


def body(url):
    with requests.Session() as session:
        response = session.get(url, stream=True, timeout=5)
        return response.raw.read()


for ask in (status, body):
    with http.server.HTTPServer(("127.0.0.1", 0), Hello) as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        ask(f"http://127.0.0.1:{server.server_port}/")
        thread.join()
