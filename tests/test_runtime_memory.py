import subprocess
import sys
import textwrap

import pytest

from itemix import NotEnoughMemoryError
from itemix._runtime import free_memory, measured_free_memory, require_memory

MEMORY_FILES = {
    "machine": ({"proc/meminfo": "MemTotal:  900 kB\nMemFree: 5 kB\nMemAvailable:   600 kB\n"}, 600 * 1024),
    "nothing known": ({}, 4 << 30),
    "container": (
        {
            "proc/meminfo": "MemAvailable:   600 kB\n",
            "sys/fs/cgroup/memory.max": "100000\n",
            "sys/fs/cgroup/memory.current": "80000\n",
            "sys/fs/cgroup/memory.stat": "anon 10\ninactive_file 30000\nactive_file 7\n",
        },
        50_007,
    ),
    "container without limit": (
        {
            "proc/meminfo": "MemAvailable:   600 kB\n",
            "sys/fs/cgroup/memory.max": "max\n",
            "sys/fs/cgroup/memory.current": "1\n",
        },
        600 * 1024,
    ),
    "older container": (
        {
            "sys/fs/cgroup/memory/memory.limit_in_bytes": "100000\n",
            "sys/fs/cgroup/memory/memory.usage_in_bytes": "90000\n",
            "sys/fs/cgroup/memory/memory.stat": "inactive_file 1\ntotal_inactive_file 2000\n",
        },
        12_000,
    ),
    "group inside a group": (
        {
            "proc/self/cgroup": "0::/pods/one\n",
            "sys/fs/cgroup/pods/one/memory.max": "max\n",
            "sys/fs/cgroup/pods/memory.max": "70000\n",
            "sys/fs/cgroup/pods/memory.current": "20000\n",
            "sys/fs/cgroup/memory.max": "max\n",
        },
        50_000,
    ),
    "group that is throttled": (
        {
            "proc/self/cgroup": "0::/one\n",
            "sys/fs/cgroup/one/memory.max": "90000\n",
            "sys/fs/cgroup/one/memory.high": "60000\n",
            "sys/fs/cgroup/one/memory.current": "20000\n",
        },
        40_000,
    ),
    "older group inside a group": (
        {
            "proc/self/cgroup": "5:devices:/\n4:cpu,memory:/pods/one\n0::/\n",
            "sys/fs/cgroup/memory/pods/one/memory.limit_in_bytes": "9223372036854771712\n",
            "sys/fs/cgroup/memory/pods/memory.limit_in_bytes": "100000\n",
            "sys/fs/cgroup/memory/pods/memory.usage_in_bytes": "90000\n",
            "sys/fs/cgroup/memory/pods/memory.stat": "total_inactive_file 2000\ntotal_active_file 500\n",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
        },
        12_500,
    ),
    "name of a group that only the host knows": (
        {
            "proc/self/cgroup": "4:memory:/docker/0123\n",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": "100000\n",
            "sys/fs/cgroup/memory/memory.usage_in_bytes": "90000\n",
        },
        10_000,
    ),
    "limit of addresses": (
        {
            "proc/meminfo": "MemAvailable:   600 kB\n",
            "proc/self/limits": "Limit  Soft Limit  Hard Limit  Units\n"
            "Max data size             unlimited            unlimited            bytes     \n"
            "Max address space         300000               unlimited            bytes     \n",
            "proc/self/status": "Name:  python\nVmSize:\t     100 kB\nVmData:\t     7 kB\n",
        },
        300_000 - 100 * 1024,
    ),
    "limit of data": (
        {
            "proc/self/limits": "Max data size             300000  400000 bytes\n",
            "proc/self/status": "VmSize:\t     100 kB\nVmData:\t     7 kB\n",
        },
        300_000 - 7 * 1024,
    ),
    "full container": (
        {"sys/fs/cgroup/memory.max": "100\n", "sys/fs/cgroup/memory.current": "200\n"},
        0,
    ),
}


@pytest.mark.parametrize(("files", "expected"), MEMORY_FILES.values(), ids=MEMORY_FILES)
def test_free_memory(files, expected, tmp_path):
    """The least that the machine and the container leave; cached files count as free."""
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert measured_free_memory(tmp_path) == expected


def test_free_memory_here():
    """Here there is some memory left, and not more than any machine has."""
    assert 1 << 20 < free_memory() < 1 << 50


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux")
def test_a_limit_of_this_process_counts():
    """What `ulimit -v` allows is the most that is free, and a search is stopped at half of it."""
    script = """
        import resource
        from itemix._runtime import free_memory
        resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
        print(free_memory())
    """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - our own script
    assert 1 << 30 < int(ran.stdout) < 2 << 30


def test_what_does_not_fit_is_refused():
    """The message says what is needed, what there is, and what to do."""
    message = r"expected 1,024.0 GiB of memory for a tree, got [\d.]+ GiB; plant a bush"
    with pytest.raises(NotEnoughMemoryError, match=message):
        require_memory(2**40, "a tree", "plant a bush")
    require_memory(1000, "a bush", "")
