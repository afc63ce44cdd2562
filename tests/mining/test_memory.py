import pytest

from itemix.mining.memory import free_memory

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
        50_000,
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
    assert free_memory(tmp_path) == expected


def test_free_memory_here():
    """Here there is some memory left, and not more than any machine has."""
    assert 1 << 20 < free_memory() < 1 << 50
