"""The default verifies; a server does not ask its clients for certificates."""

import ssl

context = ssl.create_default_context()
context.verify_mode = ssl.CERT_REQUIRED
server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
server.verify_mode = ssl.CERT_NONE
