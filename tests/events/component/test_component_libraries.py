"""Libraries are hooked in whatever order a program loads them, also those that only a hook loads."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.interpreter

PROGRAM = """
{imports}
import queue, threading
import mopsus

def work(inbox):
    inbox.get()

with mopsus.watch_components(mopsus.parse(
    "Taken(p) {{ event taken(p) : recv(p, _) && runs(*.work) ere : taken @match {{ }} }}"
)) as watch:
    {late}
    inbox = queue.Queue()
    thread = threading.Thread(target=work, args=(inbox,))
    thread.start()
    inbox.put(1)
    thread.join()
print(len(watch.verdicts))
"""


@pytest.mark.parametrize("early", [True, False])
@pytest.mark.parametrize(
    "library", ["multiprocessing.queues", "multiprocessing", "concurrent.futures", "asyncio", "socket"]
)
def test_the_order_of_imports_does_not_matter(library, early):
    imports = f"import {library}"
    # Imported by nobody before: that is what a fresh interpreter is for.
    text = PROGRAM.format(imports=imports if early else "", late="pass" if early else imports)
    text = (
        text
        if early
        else text.replace("import queue, threading\n", "").replace(
            f"    {imports}\n", f"    {imports}\n    import queue, threading\n"
        )
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.stderr) == ("1\n", "")
