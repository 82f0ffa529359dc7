"""Whose code a file is: decided by where it is, not by the names of folders in its path."""

import os
import sysconfig

from mopsus.installed import installed_below, is_installed

LIBRARY, PACKAGES = sysconfig.get_path("stdlib"), sysconfig.get_path("purelib")


def test_python_and_packages_are_installed():
    assert is_installed(os.__file__)
    assert is_installed(f"{PACKAGES}/pytest/__init__.py")
    assert not is_installed(__file__)


def test_a_project_may_lie_in_folders_of_any_name(tmp_path):
    for folder in ("site-packages", "dist-packages", "lib/python3.11", ".venv/lib", "mopsus", "a b/ö %s"):
        assert not is_installed(f"{tmp_path}/{folder}/module.py")
    assert not is_installed(f"{LIBRARY}-of-mine/module.py")


def test_a_link_to_where_packages_are_is_the_same_place(tmp_path):
    (tmp_path / "packages").symlink_to(PACKAGES)
    assert is_installed(f"{tmp_path}/packages/pytest/__init__.py")


def test_packages_below_the_library_are_not_part_of_it():
    below = installed_below(f"{LIBRARY}/")
    assert f"{LIBRARY}/site-packages/" in below
    assert f"{LIBRARY}/" not in below
