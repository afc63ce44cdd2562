"""How much memory this process may still take: what the machine, its limits and its control groups leave."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from itemix.errors import NotEnoughMemoryError

if TYPE_CHECKING:
    from collections.abc import Iterator

_IF_UNKNOWN = 4 << 30
# Version 1 of control groups says "no limit" with a number near 2^63.
_NO_LIMIT = 1 << 60
_LEAST_REFUSED = 1 << 30


def require_memory(n_bytes: float, what: str, advice: str) -> None:
    """Refuse work for which there is not enough memory, before it begins.

    Less than a gigabyte is never refused: it may still be found, and what is free is not known so exactly.

    Raises
    ------
    NotEnoughMemoryError
        If it takes more than this process may still take.
    """
    if n_bytes < _LEAST_REFUSED:
        return
    free = free_memory()
    if n_bytes > free:
        raise NotEnoughMemoryError(
            f"expected {n_bytes / 2**30:,.1f} GiB of memory for {what}, got {free / 2**30:,.1f} GiB; {advice}"
        )


def free_memory(root: Path = Path("/")) -> int:
    """Return about how many bytes of memory this process may still take.

    It is the least of what the machine has free, of what ``ulimit`` leaves, and of what each control group
    leaves that the process is in. Files that are cached in memory count as free: the system gives them up
    when asked. Where the system does not say (it is not Linux), a few gigabytes are assumed.
    """
    kilobytes = _field(root / "proc/meminfo", "MemAvailable:")
    free = _IF_UNKNOWN if kilobytes is None else 1024 * kilobytes
    return max(0, min([free, *_left_by_limits(root / "proc/self"), *_left_by_groups(root)]))


def _left_by_limits(process: Path) -> Iterator[int]:
    """Yield what the limits of the process leave: for addresses (``ulimit -v``) and data (``ulimit -d``)."""
    for limit, used in (("Max address space", "VmSize:"), ("Max data size", "VmData:")):
        most = _field(process / "limits", limit)
        if most is not None:
            yield most - 1024 * (_field(process / "status", used) or 0)


def _left_by_groups(root: Path) -> Iterator[int]:
    """Yield what the control groups leave, of both versions: that of the process and all above it."""
    text = _text(root / "proc/self/cgroup") or "0::/\n0:memory:/"
    mounted = root / "sys/fs/cgroup"
    for line in text.splitlines():
        _, controllers, path = line.split(":", 2)
        group = Path(path.strip("/"))
        for inner in (group, *group.parents):
            if not controllers:
                for folder in (mounted / inner, mounted / "unified" / inner):
                    for limit in ("memory.max", "memory.high"):
                        yield from _left_by_group(folder, limit, "memory.current", "")
            elif "memory" in controllers.split(","):
                yield from _left_by_group(
                    mounted / "memory" / inner, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_"
                )


def _left_by_group(folder: Path, limit: str, usage: str, prefix: str) -> Iterator[int]:
    most = _field(folder / limit, "")
    if most is not None and most < _NO_LIMIT:
        cached = sum(
            _field(folder / "memory.stat", f"{prefix}{kind}_file ") or 0 for kind in ("active", "inactive")
        )
        yield most - max(0, (_field(folder / usage, "") or 0) - cached)


def _text(file: Path) -> str | None:
    try:
        return file.read_text()
    except OSError:
        return None


def _field(file: Path, name: str) -> int | None:
    """Return the number after a name at the beginning of a line, None if there is none, or no number."""
    _, found, rest = f"\n{_text(file) or ''}".partition(f"\n{name}")
    words = rest.split(maxsplit=1) if found else []
    return int(words[0]) if words and words[0].isdigit() else None
