"""The errors that itemix raises on purpose.

Each also inherits the built-in exception that a caller would expect, and each message says what was
expected, what was got and one thing to try.
"""

from __future__ import annotations


class ItemixError(Exception):
    """Base of all errors that itemix raises on purpose."""


class InvalidInputError(ItemixError, ValueError):
    """A value or a file does not have the form that was asked for."""


class MissingFileError(InvalidInputError, FileNotFoundError):
    """A file that was named does not exist."""


class OutputError(ItemixError, OSError):
    """A file cannot be written: the disk is full, or the folder may not be written to."""


class UnknownItemError(ItemixError, KeyError):
    """An item that was named is not in the data or the model."""

    def __str__(self) -> str:
        """Return the plain message: `KeyError` would put it in quotes."""
        return str(self.args[0]) if self.args else ""


class UnknownGroupError(UnknownItemError):
    """A group that was named is not one of those that the model was fitted to."""


class TooManyItemsetsError(ItemixError, MemoryError):
    """A search was stopped because its result would not fit.

    Attributes
    ----------
    n_found : int
        How many itemsets had been found when the search stopped.
    """

    def __init__(self, message: str, n_found: int = 0) -> None:
        super().__init__(message)
        self.n_found = n_found


class NotEnoughMemoryError(ItemixError, MemoryError):
    """A model, or a part of a file, would not fit into the memory that this process may take."""


class ModelFileError(ItemixError, ValueError):
    """A model file is damaged, foreign or newer than this version."""


class MissingExtraError(ItemixError, ImportError):
    """An optional dependency is needed but not installed."""


class DatasetUnavailableError(ItemixError, OSError):
    """A named data set is not on this machine and cannot be downloaded."""


class EngineError(ItemixError, RuntimeError):
    """Dask or Spark could not finish its work: workers were lost, or their memory was not enough."""
