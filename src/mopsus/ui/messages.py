"""Every message code of pages in the browser, with the one sentence that the messages page shows."""

from __future__ import annotations

from mopsus.model import MopsusError

MESSAGES: dict[str, str] = {
    "UI-001": "Pages in the browser need a package that is not installed.",
    "UI-002": "The port for a page is not free.",
}


class PageError(MopsusError):
    """A page cannot be shown."""

    code = "UI-001"
