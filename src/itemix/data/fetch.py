"""Get the file of a named data set: from ITEMIX_DATA, from the cache, or by a download that is checked."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

from itemix._files import replacing
from itemix.errors import DatasetUnavailableError, InvalidInputError, OutputError

if TYPE_CHECKING:
    from itemix.core.transactions import Transactions
    from itemix.data.catalogue import DataFile

DATA_VARIABLE = "ITEMIX_DATA"
_TIMEOUT_S = 30


def find_local(file: DataFile) -> Path | None:
    """Return the file in the folder that ITEMIX_DATA names, plain or gzipped, if it is there.

    Raises
    ------
    InvalidInputError
        If ITEMIX_DATA names no folder.
    """
    named = os.environ.get(DATA_VARIABLE)
    if not named:
        return None
    folder = Path(named)
    if not folder.is_dir():
        raise InvalidInputError(
            f"expected {DATA_VARIABLE} to name a folder, got {named!r}; correct it, or unset it to download"
        )
    candidates = (folder / file.local, folder / f"{file.local}.gz")
    return next((path for path in candidates if path.is_file()), None)


def cache_folder() -> Path:
    """Return the folder where downloads are kept: ``datasets`` in the user's cache of itemix."""
    import pooch

    return Path(pooch.os_cache("itemix")) / "datasets"


def cached_path(name: str, file: DataFile) -> Path | None:
    """Return where a file lies after its download, or None if it cannot be downloaded."""
    return cache_folder() / name / file.url.rpartition("/")[2] if file.url else None


def download(name: str, file: DataFile) -> Path:
    """Return the downloaded file; a file that is there already is checked, not loaded again.

    The checksum of the first download is kept beside the file, and it must have it ever after.

    Raises
    ------
    DatasetUnavailableError
        If it cannot be downloaded, or is not the file that it was.
    """
    import requests
    from pooch import HTTPDownloader, file_hash

    url, path = file.url, cached_path(name, file)
    if url is None or path is None:
        raise DatasetUnavailableError(
            f"expected {name} at {file.local!r} in the folder that {DATA_VARIABLE} names, got no such file; "
            "it cannot be downloaded"
        )
    note = checksum_note(path)
    known = note.read_text().strip() if note.exists() else None
    try:
        if not (path.exists() and known in (None, file_hash(str(path)))):
            path.parent.mkdir(parents=True, exist_ok=True)
            with replacing(path) as temporary:
                HTTPDownloader(timeout=_TIMEOUT_S)(url, str(temporary), None)
                if known not in (None, got := file_hash(str(temporary))):
                    raise ValueError(f"a file with the checksum {got}, not {known}")  # noqa: TRY301 - told below
    except (requests.RequestException, OSError, ValueError) as error:
        raise DatasetUnavailableError(
            f"expected to download {name} from {url}, got {_reason(error)}; fetch that file by hand and save "
            f"it as {str(path)!r}, or set {DATA_VARIABLE} to a folder with {file.local!r}"
        ) from None
    if known is None:
        with replacing(note) as temporary:
            temporary.write_text(f"{file_hash(str(path))}\n")
    return path


def checksum_note(path: Path) -> Path:
    """Return the path of the note of a download's checksum."""
    return path.with_name(f"{path.name}.sha256")


def forget(path: Path) -> None:
    """Remove a download that is not what it should be, with its note."""
    path.unlink(missing_ok=True)
    checksum_note(path).unlink(missing_ok=True)


def fingerprint(transactions: Transactions) -> str:
    """Return a checksum of the transactions: the same for a file with other blanks or compression.

    It is the SHA-256 of the names of the items that occur, one a line, of the row pointers (64 bits) and of
    the item codes (32 bits), little endian.
    """
    used = transactions.items.names(np.flatnonzero(transactions.item_counts()))
    kept = transactions.select_items(used)
    digest = hashlib.sha256("\n".join(map(str, used)).encode())
    digest.update(kept.indptr.astype("<i8").tobytes())
    digest.update(kept.indices.astype("<i4").tobytes())
    return digest.hexdigest()


def _reason(error: Exception) -> str:
    import requests

    if isinstance(error, OutputError):  # what went wrong while the file was written
        error = cast("Exception", error.__cause__)
    if isinstance(error, requests.ConnectionError):
        return "no connection"
    if isinstance(error, requests.Timeout):
        return f"no answer in {_TIMEOUT_S} s"
    if isinstance(error, requests.HTTPError) and error.response is not None:
        return f"status {error.response.status_code}"
    return str(error).splitlines()[0].rstrip(".")
