"""A time that knows its zone."""

from datetime import datetime, timezone

now = datetime.now(timezone.utc)
now.timestamp()
