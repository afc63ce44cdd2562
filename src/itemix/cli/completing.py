"""What the shell offers when a word is completed; where nothing is offered, it offers file names."""

from collections.abc import Callable, Iterable

DATASET_PREFIX = "dataset:"


def one_of(choices: Iterable[str]) -> Callable[[], list[str]]:
    """Return a function that offers a few words; typer keeps those that fit."""
    words = list(choices)
    return lambda: words


def dataset_names() -> list[tuple[str, str]]:
    """Offer the names of all data sets, each with what it is."""
    from itemix.data.registry import CATALOGUE

    return [(name, entry.description) for name, entry in CATALOGUE.items()]


def data_sources(incomplete: str) -> list[tuple[str, str]]:
    """Offer data sets after ``dataset``, and file names (by offering nothing) otherwise."""
    if not incomplete.startswith(DATASET_PREFIX.removesuffix(":")):
        return []
    return [(f"{DATASET_PREFIX}{name}", what) for name, what in dataset_names()]
