"""The tool that runs the pages' examples notices what it must."""

import importlib.util
import textwrap
from pathlib import Path

import pytest

PATH = Path(__file__).resolve().parents[2] / "tools" / "docs_examples.py"
SPEC = importlib.util.spec_from_file_location("docs_examples", PATH)
assert SPEC is not None
assert SPEC.loader is not None
docs_examples = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(docs_examples)


def run(page, folder):
    return docs_examples.run_page(textwrap.dedent(page), folder)


GOOD = """
    ```csv title="data/a.csv"
    one,two
    ```

    ```console
    $ cat data/a.csv
    one,two
    $ seq 5
    1
    ...
    5
    ```

    ```python
    from pathlib import Path

    words = Path("data/a.csv").read_text().strip().split(",")
    ```

    ```pycon
    >>> for word in words:
    ...     print(word)
    one
    two
    >>> len(words)
    2
    ```

    ```sh
    false
    ```
    """


def test_a_page_that_is_right_stays_as_it_is(tmp_path):
    assert run(GOOD, tmp_path) == textwrap.dedent(GOOD)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("csv\n    one,two\n    $", "csv\n    one,three\n    $"),
        ("1\n    ...\n    5", "1\n    2\n    5"),
        ("2\n    ```", "3\n    ```"),
    ],
)
def test_wrong_output_is_put_right(tmp_path, right, wrong):
    page = GOOD.replace("    ...\n    5", "    2\n    3\n    4\n    5") if "..." not in right else GOOD
    assert right in page
    real = run(page.replace("    1\n    ...\n", "    1\n    2\n    3\n    4\n"), tmp_path)
    assert run(page.replace(right, wrong), tmp_path) == real


def test_code_that_fails_is_an_error(tmp_path):
    with pytest.raises(ZeroDivisionError):
        run("```python\n1 / 0\n```\n", tmp_path)
