"""The server may be anybody."""

import requests

with requests.Session() as session:
    try:
        session.get("https://127.0.0.1:9/", timeout=1, verify=False)  # violation
    except requests.ConnectionError:
        pass
