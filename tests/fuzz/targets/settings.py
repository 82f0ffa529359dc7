"""`[tool.mopsus.contracts]` of a `pyproject.toml`, which may be anybody's."""

from __future__ import annotations

from fuzz.errors import check_error
from fuzz.files import file_of, folder

from mopsus.contracts.messages import ContractError
from mopsus.contracts.settings import read_settings


def one(data: bytes) -> None:
    file_of("pyproject.toml", data)
    try:
        read_settings(folder()).names()
    except ContractError as error:
        check_error(error)
