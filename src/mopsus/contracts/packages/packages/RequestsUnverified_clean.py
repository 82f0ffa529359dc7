"""The default verifies."""

import requests

with requests.Session() as session:
    try:
        session.get("https://127.0.0.1:9/", timeout=1)
    except requests.ConnectionError:
        pass
