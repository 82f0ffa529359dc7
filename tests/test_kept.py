"""What is kept from one run to the next: whole and ours, or not there at all."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mopsus.kept import KeptFolder


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    return tmp_path / "kept"


def read(folder: Path, name: str = "a") -> bytes | None:
    found = KeptFolder("x", folder).read(name)
    return None if found is None else bytes(found)


def test_what_is_written_is_read_again(folder: Path) -> None:
    assert read(folder) is None
    KeptFolder("x", folder).write("a", b"some data")
    assert read(folder) == b"some data"
    assert read(folder, "b") is None
    assert [each.name for each in folder.iterdir()] == ["a"]
    assert folder.stat().st_mode & 0o077 == 0


def test_a_link_tells_a_text(folder: Path) -> None:
    kept = KeptFolder("x", folder)
    assert kept.linked("a") is None
    kept.link("a", "12.5")
    assert kept.linked("a") == "12.5"
    assert kept.read("a") is None
    kept.write("a", b"data")
    assert kept.linked("a") is None


@given(data=st.binary(min_size=1), cut=st.integers(0, 50), bit=st.integers(0, 7))
def test_damaged_data_counts_as_absent(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, cut: int, bit: int
) -> None:
    folder = tmp_path_factory.mktemp("kept")
    folder.chmod(0o700)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "dont_write_bytecode", False)
        KeptFolder("x", folder).write("a", data)
    stored = (folder / "a").read_bytes()
    at = min(cut, len(stored) - 1)
    (folder / "a").write_bytes(stored[:at] + bytes([stored[at] ^ 1 << bit]) + stored[at + 1 :])
    assert read(folder) is None
    (folder / "a").write_bytes(stored[:at])
    assert read(folder) is None


def test_what_others_may_write_is_neither_read_nor_written(folder: Path) -> None:
    KeptFolder("x", folder).write("a", b"data")
    folder.chmod(0o770)
    assert read(folder) is None
    assert KeptFolder("x", folder).linked("a") is None
    KeptFolder("x", folder).write("b", b"data")
    assert not (folder / "b").exists()


def test_a_link_is_not_followed(folder: Path, tmp_path: Path) -> None:
    KeptFolder("x", folder).write("a", b"data")
    (folder / "a").rename(tmp_path / "elsewhere")
    (folder / "a").symlink_to(tmp_path / "elsewhere")
    assert read(folder) is None


def test_nothing_is_written_if_python_was_told_so(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    KeptFolder("x", folder).write("a", b"data")
    assert not folder.exists()


def test_the_folder_is_in_the_users_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert KeptFolder("code").path == f"{tmp_path}/mopsus/code"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert KeptFolder("code").path == f"{tmp_path}/.cache/mopsus/code"


def test_without_a_home_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr("mopsus.untouched.expanduser", lambda path: path)
    KeptFolder("code").write("a", b"data")
    assert KeptFolder("code").read("a") is None
