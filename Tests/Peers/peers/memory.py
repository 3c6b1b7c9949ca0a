"""The memory of a process, as the kernel counts it."""

from pathlib import Path


def own_memory(pid: int) -> int:
    """The bytes of a process that are in no file: what it has allocated.

    Pages of its program are not among them. The gateway unmaps those at rest, and maps them again where it needs them,
    so the resident memory grows when it begins to work.
    """
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) << 10
    raise AssertionError("the process has no memory")
