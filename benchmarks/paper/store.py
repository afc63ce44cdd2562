"""Results on disk: a small file for each as it comes, packed into one that is kept with the source."""

from __future__ import annotations

import json
import math
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from .scales import Task

Record = dict[str, Any]
_DIGITS = 6


class Store:
    """The results in a folder.

    Parameters
    ----------
    folder : Path
        Where they are: packed in ``records.jsonl``, a record a line in the order of its keys, and the new
        ones, which replace those of the same key, each in a file of its own below ``new``.
    """

    def __init__(self, folder: Path) -> None:
        self._packed = folder / "records.jsonl"
        self._new = folder / "new"
        self._records = self._read_packed() | self._read_new()

    def __len__(self) -> int:
        return len(self._records)

    def __contains__(self, task: Task) -> bool:
        return task.key in self._records

    def get(self, task: Task) -> Record | None:
        """Return the result of a task, None if there is none."""
        return self._records.get(task.key)

    def put(self, task: Task, record: Record) -> None:
        """Keep a result: it is there as a whole or not at all, whenever the program is ended."""
        rounded = _rounded(record)
        self._records[task.key] = rounded
        _write(self._path(task.key), json.dumps(rounded) + "\n")

    def pack(self) -> None:
        """Put all results into one file."""
        new = self._read_new()
        self._write_packed(self._read_packed() | new)
        for key in new:
            self._path(key).unlink()

    def forget(self, tasks: Iterable[Task]) -> int:
        """Drop the results of tasks, and say how many there were."""
        keys = {task.key for task in tasks} & self._records.keys()
        self.pack()
        self._records = {key: record for key, record in self._records.items() if key not in keys}
        self._write_packed(self._records)
        return len(keys)

    def _path(self, key: str) -> Path:
        return self._new / f"{key}.json"

    def _read_packed(self) -> dict[str, Record]:
        if not self._packed.exists():
            return {}
        lines = [json.loads(line) for line in self._packed.read_text().splitlines()]
        return {line.pop("key"): line for line in lines}

    def _read_new(self) -> dict[str, Record]:
        return {
            path.relative_to(self._new).with_suffix("").as_posix(): json.loads(path.read_text())
            for path in sorted(self._new.rglob("*.json"))
        }

    def _write_packed(self, records: dict[str, Record]) -> None:
        if records or self._packed.exists():
            lines = (json.dumps({"key": key, **records[key]}) + "\n" for key in sorted(records))
            _write(self._packed, "".join(lines))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    # No other process writes a file of this name, and a name is changed at once or not at all.
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.write_text(text)
    beside.replace(path)


def _rounded(value: Any) -> Any:  # noqa: ANN401 - what JSON holds
    """Return a value with short numbers; JSON has no infinities, so that they become words."""
    if isinstance(value, dict):
        return {str(key): _rounded(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(part) for part in value]
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}") if math.isfinite(value) else str(value)
    return value
