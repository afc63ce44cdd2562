"""Model files: named arrays and one JSON header in the safetensors format, checked in full when read.

The header is the value of the key "itemix" in the safetensors metadata. It always has the format number, the
version of the library that wrote the file, and a checksum of everything else, so that damage anywhere is
noticed. Nothing in a file depends on the time or the machine: one model gives one sequence of bytes. Reading
never runs code.

The numbers of long arrays are written in as few bytes as hold them exactly, and get back their type when they
are taken.
"""

from __future__ import annotations

import hashlib
import json
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from itemix._files import Held, as_path, hold, is_regular, is_stream, replacing
from itemix.errors import InvalidInputError, MissingFileError, ModelFileError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from itemix._files import PathLike
    from itemix._typing import Array

FORMAT = 2

T = TypeVar("T")

_KEY = "itemix"
_START = b'{"__metadata__":{"itemix":'
_LENGTH_BYTES = 8
_DTYPES = {
    "F64": np.float64,
    "F32": np.float32,
    "F16": np.float16,
    "I64": np.int64,
    "I32": np.int32,
    "U16": np.uint16,
    "U8": np.uint8,
    "BOOL": np.bool_,
}


# Which types an array may be written as, the narrowest first. Doubles stay what they are.
_NARROWER: dict[str, tuple[npt.DTypeLike, ...]] = {
    "float32": (np.float16,),
    "int64": (np.uint8, np.uint16, np.int32),
    "int32": (np.uint8, np.uint16),
}
_FEWEST_NARROWED = 1_000


class Content:
    """The content of a model file; each piece is checked when it is taken.

    Parameters
    ----------
    path : Path
        Where it was read from, for messages.
    header : dict
        The JSON header.
    tensors : dict of arrays
        The arrays by name.
    """

    def __init__(self, path: Path, header: dict[str, Any], tensors: Mapping[str, Array]) -> None:
        self._path = path
        self._header = header
        self._tensors = dict(tensors)
        self._names = frozenset(tensors)

    def field(self, kind: type[T], *keys: str) -> T:
        """Return a value of the header by its keys, outermost first; it must be of exactly that type."""
        value: Any = self._header
        for key in keys:
            if not isinstance(value, dict) or key not in value:
                raise self.damaged(f"its header has no {'.'.join(keys)}")
            value = value[key]
        if type(value) is not kind:
            raise self.damaged(f"{'.'.join(keys)} in its header is no {kind.__name__}")
        typed: T = value
        return typed

    def whole(self, *keys: str, low: int = 0) -> int:
        """Return a whole number of at least `low` from the header."""
        value = self.field(int, *keys)
        if value < low:
            raise self.damaged(f"{'.'.join(keys)} in its header is {value}")
        return value

    def __contains__(self, name: str) -> bool:
        """Whether there is an array of this name, taken already or not."""
        return name in self._names

    def is_float(self, name: str) -> bool:
        """Whether there is such an array, not yet taken, of floating-point numbers."""
        return name in self._tensors and self._tensors[name].dtype == np.float64

    def take(self, name: str, dtype: npt.DTypeLike, *shape: int | None) -> Array:
        """Return an array, which must have that type and shape; None stands for any length.

        It may have been written as a narrower type of the same kind.
        """
        if name not in self._tensors:
            raise self.damaged(f"it has no array {name}")
        array = self._tensors.pop(name)
        fits = len(array.shape) == len(shape) and all(
            wanted in (None, got) for wanted, got in zip(shape, array.shape, strict=True)
        )
        wide = np.dtype(dtype)
        if not fits or array.dtype not in (wide, *_NARROWER.get(wide.name, ())):
            wanted = tuple("any" if length is None else length for length in shape)
            raise self.damaged(
                f"{name} is {array.dtype.name} of shape {array.shape}, not {wide.name} of {wanted}"
            )
        return array.astype(wide, copy=False)

    def put(self, name: str, array: Array) -> None:
        """Add an array that the file leaves out, since it follows from others."""
        self._tensors[name] = array

    def require_nothing_left(self) -> None:
        """Refuse a file with arrays that were not taken: they might change what the model answers."""
        if self._tensors:
            raise self.damaged(f"it has an array {min(self._tensors)!r} that this version does not know")

    def damaged(self, reason: str) -> ModelFileError:
        """Return the error for a file of ours that is not as it was written."""
        return _damaged(self._path, reason)

    @contextmanager
    def blamed(self) -> Iterator[None]:
        """Blame the file if a value that is made of its content raises InvalidInputError.

        Raises
        ------
        ModelFileError
            In its place.
        """
        try:
            yield
        except InvalidInputError as error:
            raise self.damaged(str(error).partition(";")[0]) from None


def write(path: PathLike, header: Mapping[str, Any], tensors: Mapping[str, Array]) -> None:
    """Write a file; an old one stays until the new one is complete.

    Parameters
    ----------
    path : path
        Where to write.
    header : dict
        What JSON can hold (no NaN, no infinity).
    tensors : dict of arrays
        Arrays of float64, float32, int64, int32, uint8 or bool.

    Raises
    ------
    InvalidInputError
        If the folder does not exist.
    OutputError
        If the file cannot be written.
    """
    from safetensors.numpy import save

    # safetensors writes the memory behind an array as it lies there.
    arrays = {name: np.ascontiguousarray(_narrowed(array)) for name, array in tensors.items()}
    whole = {**header, "format": FORMAT, "version": version("itemix")}
    whole["checksum"] = _checksum(whole, arrays)
    data = save(arrays, metadata={_KEY: _as_json(whole)})
    # Not safetensors' save_file: it would put a plain file in the place of a device or a pipe.
    with replacing(path) as temporary:
        temporary.write_bytes(data)


def _narrowed(array: Array) -> Array:
    """Return a long array as the first of the narrower types of its kind that holds all numbers exactly."""
    if array.size < _FEWEST_NARROWED:
        return array
    for narrow in _NARROWER.get(array.dtype.name, ()):
        if array.dtype.kind == "f":
            with np.errstate(over="ignore"):
                found = array.astype(narrow)
            if np.array_equal(found, array, equal_nan=True):
                return found
        elif array.min() >= 0 and array.max() <= np.iinfo(narrow).max:
            return array.astype(narrow)
    return array


def read(path: PathLike | Held) -> Content:
    """Read a file that `write` has written, or a stream of its bytes.

    Raises
    ------
    MissingFileError
        If there is no such file.
    ModelFileError
        If it is damaged, not a model file, or of a newer version.
    """
    held = path if isinstance(path, Held) else _held(path)
    file = as_path(path) if held is None else Path(held.name)
    text, arrays = _open(file, held)
    header = _parsed(text, file)
    content = Content(file, header, arrays)
    _require_known_format(content, file)
    checksum = header.pop("checksum", None)
    if checksum != _checksum(header, arrays):
        raise _damaged(file, "its checksum does not fit")
    return content


def is_model_file(path: PathLike) -> bool:
    """Whether a regular file looks like one that `write` has written, from its first bytes."""
    if not is_regular(path):
        return False
    try:
        with Path(path).open("rb") as stream:
            return begins_like_model(stream.read(_LENGTH_BYTES + len(_START)))
    except OSError:
        return False


def begins_like_model(head: bytes) -> bool:
    """Whether some bytes begin like a file that `write` has written."""
    return head.startswith(_START, _LENGTH_BYTES)


def _held(path: PathLike) -> Held | None:
    """Return all bytes of a stream, or None for a regular file that can be read."""
    file = as_path(path)
    try:
        held = hold(path) if is_stream(path) else None
        if held is None:
            with file.open("rb") as stream:
                is_empty = not stream.read(1)
        else:
            is_empty = not held.data
    except FileNotFoundError:
        raise MissingFileError(
            f"expected a model file to read, got no such file {str(file)!r}; check the name and the folder"
        ) from None
    except OSError as error:
        if file.is_dir():
            raise ModelFileError(
                f"expected a model file to read, got the folder {str(file)!r}; name a file in it"
            ) from None
        raise ModelFileError(
            f"expected a model file that can be read, got {str(file)!r}: {error.strerror}; "
            "check its name and permissions"
        ) from None
    if is_empty:
        raise ModelFileError(
            f"expected a model file, got {str(file)!r}, which is empty; save the model again"
        )
    return held


def _open(file: Path, held: Held | None) -> tuple[str, dict[str, Array]]:
    """Return the text of the header and the arrays, of a file or of the bytes of a stream."""
    from safetensors import SafetensorError, safe_open

    try:
        if held is not None:
            return _unpacked(file, held.data)
        with safe_open(file, framework="np") as opened:
            names: list[str] = list(opened.keys())
            text = _own_header(file, opened.metadata())
            _require_known_types(file, {opened.get_slice(name).get_dtype() for name in names})
            return text, {name: opened.get_tensor(name) for name in names}
    except (SafetensorError, OSError):
        if is_model_file(file) if held is None else begins_like_model(held.data):
            raise _damaged(file, "it is cut short, or its beginning is overwritten") from None
        raise _foreign(file) from None


def _unpacked(file: Path, data: bytes) -> tuple[str, dict[str, Array]]:
    from safetensors import deserialize

    tensors = deserialize(data)  # type: ignore[no-untyped-call]
    # safetensors checks the metadata, but does not return it.
    stop = _LENGTH_BYTES + int.from_bytes(data[:_LENGTH_BYTES], "little")
    text = _own_header(file, json.loads(data[_LENGTH_BYTES:stop]).get("__metadata__"))
    _require_known_types(file, {tensor["dtype"] for _, tensor in tensors})
    return text, {
        name: np.frombuffer(tensor["data"], _DTYPES[tensor["dtype"]]).reshape(tensor["shape"])
        for name, tensor in tensors
    }


def _own_header(file: Path, metadata: Mapping[str, str] | None) -> str:
    if metadata is None or _KEY not in metadata:
        raise _foreign(file)
    return metadata[_KEY]


def _parsed(text: str, file: Path) -> dict[str, Any]:
    try:
        header = json.loads(text)
        _as_json(header)  # refuses the infinities and NaN that Python reads but JSON does not have
    except (ValueError, RecursionError):
        raise _damaged(file, "its header is no JSON") from None
    if not isinstance(header, dict):
        raise _damaged(file, "its header is no JSON object")
    return header


def _require_known_types(file: Path, dtypes: Iterable[str]) -> None:
    for dtype in sorted(set(dtypes) - set(_DTYPES)):
        raise _damaged(file, f"it has an array of type {dtype!r}")


def _require_known_format(content: Content, file: Path) -> None:
    number = content.whole("format", low=1)
    if number > FORMAT:
        raise ModelFileError(
            f"expected a model file of format {FORMAT} or older, got {str(file)!r} of format {number}, "
            f"written by itemix {content.field(str, 'version')!r}; install that version or a later one"
        )


def _foreign(file: Path) -> ModelFileError:
    return ModelFileError(
        f"expected a model file, got {str(file)!r}, which is something else; model.save writes such files"
    )


def _damaged(file: Path, reason: str) -> ModelFileError:
    return ModelFileError(
        f"expected a model file as itemix wrote it, got {str(file)!r}, which is damaged ({reason}); "
        "copy it again, or save the model again"
    )


def _checksum(header: Mapping[str, Any], arrays: Mapping[str, Array]) -> str:
    """Return a digest of the header and of each array with its name, type and shape."""
    digest = hashlib.sha256(_as_json(header).encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(_as_json([name, array.dtype.name, array.shape]).encode())
        digest.update(array.reshape(-1).view(np.uint8).data)
    return f"sha256:{digest.hexdigest()}"


def _as_json(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
