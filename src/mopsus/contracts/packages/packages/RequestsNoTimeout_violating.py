"""Whether the server answers is up to the server."""

import requests

with requests.Session() as session:
    try:
        session.get("http://127.0.0.1:9/")  # violation
    except requests.ConnectionError:
        pass
