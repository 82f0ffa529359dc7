"""After a second, it is over."""

import requests

with requests.Session() as session:
    try:
        session.get("http://127.0.0.1:9/", timeout=1)
    except requests.ConnectionError:
        pass
