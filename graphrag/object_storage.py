"""The one door to storage that is no local disk: s3://, gs://, abfs://, and what else fsspec has a driver for.

The drivers of the clouds are packages of their own (s3fs, gcsfs, adlfs), which the user installs; they find their keys
in the environment as they do anywhere. Does not: know what lies there (reading/objects.py, store/mirror.py).
"""

from __future__ import annotations

from typing import Any

from graphrag.errors import SettingsError


def is_url(place: str) -> bool:
    """Whether a folder of the settings is on object storage."""
    return "://" in place


def open_storage(url: str, *, key: str) -> tuple[Any, str]:
    """fsspec's file system and the path in it, without a slash at the end. key: the setting that holds `url`.

    Raises SettingsError, one line, where no driver is installed or the address is none.
    """
    import fsspec  # 0.1 s with its registry: only where a setting holds an address

    try:
        storage, path = fsspec.core.url_to_fs(url)
    except (ImportError, ValueError, OSError) as error:
        raise SettingsError(f'settings.toml: {key} "{url}" cannot be opened: {str(error).rstrip(".")}.') from None
    return storage, str(path).rstrip("/")
