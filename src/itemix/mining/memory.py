"""How much memory a search may take: what the machine, or the container around us, has left."""

from __future__ import annotations

from pathlib import Path

_IF_UNKNOWN = 4 << 30
# Version 1 of control groups says "no limit" with a number near 2^63.
_NO_LIMIT = 1 << 60
# Of a control group, version 2 and version 1: its limit, its usage, its statistics and there the part of the
# usage that is cached files.
_GROUPS = (
    ("memory.max", "memory.current", "memory.stat", "inactive_file"),
    (
        "memory/memory.limit_in_bytes",
        "memory/memory.usage_in_bytes",
        "memory/memory.stat",
        "total_inactive_file",
    ),
)


def free_memory(root: Path = Path("/")) -> int:
    """Return about how many bytes of memory this process may still take.

    Files that are cached in memory count as free: the system gives them up when asked. Where the system does
    not say (it is not Linux), a few gigabytes are assumed.
    """
    kilobytes = _field(root / "proc/meminfo", "MemAvailable:")
    free = _IF_UNKNOWN if kilobytes is None else 1024 * kilobytes
    folder = root / "sys/fs/cgroup"
    for limit, usage, statistics, cache in _GROUPS:
        most = _number(folder / limit)
        if most is not None and most < _NO_LIMIT:
            used = (_number(folder / usage) or 0) - (_field(folder / statistics, cache) or 0)
            free = min(free, max(0, most - used))
    return free


def _number(file: Path) -> int | None:
    try:
        text = file.read_text().strip()
    except OSError:
        return None
    return int(text) if text.isdigit() else None


def _field(file: Path, name: str) -> int | None:
    try:
        text = file.read_text()
    except OSError:
        return None
    _, found, rest = f"\n{text}".partition(f"\n{name}")
    return int(rest.split(maxsplit=1)[0]) if found else None
