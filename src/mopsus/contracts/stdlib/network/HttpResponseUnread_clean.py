"""The response is read to its end."""

import http.client
import socket
import threading

server = socket.create_server(("127.0.0.1", 0))


def serve():
    connection, _ = server.accept()
    for _ in range(2):
        connection.recv(1000)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    connection.close()


thread = threading.Thread(target=serve)
thread.start()
client = http.client.HTTPConnection(*server.getsockname())
for _ in range(2):
    client.request("GET", "/")
    client.getresponse().read()
client.close()
thread.join()
server.close()
