"""A second request before the first response was read."""

import http.client
import socket
import threading

server = socket.create_server(("127.0.0.1", 0))


def serve():
    connection, _ = server.accept()
    connection.recv(1000)
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    done.wait()
    connection.close()


done = threading.Event()
thread = threading.Thread(target=serve)
thread.start()
client = http.client.HTTPConnection(*server.getsockname())
client.request("GET", "/")
response = client.getresponse()
client.request("GET", "/")
try:
    client.getresponse()  # violation
except http.client.ResponseNotReady:
    pass
response.read()
client.close()
done.set()
thread.join()
server.close()
