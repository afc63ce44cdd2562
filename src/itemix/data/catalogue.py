"""What is known of a named data set: where it is, what it holds, whom to cite."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class DataFile:
    """One file of a data set.

    Attributes
    ----------
    local : str
        Where it lies in the folder that ITEMIX_DATA names, or the same with ``.gz``.
    url : str or None
        Where it is downloaded from.
    fingerprint : str or None
        The checksum of its transactions, where it is known: see `itemix.data.fetch.fingerprint`.
    """

    local: str
    url: str | None
    fingerprint: str | None = None


@dataclass(frozen=True)
class DatasetInfo:
    """What is known of a data set; it prints as a short text.

    Attributes
    ----------
    name : str
        What it is called.
    description : str
        What it is.
    n_transactions : int
        Its number of transactions.
    n_items : int
        Its number of items.
    n_ones : int or None
        Its number of (transaction, item) pairs, where that is known.
    citation : str
        Whom to cite.
    licence : str
        On what terms it is given.
    page : str
        Where it is described.
    files : dict of str to DataFile
        The file of each part; the only part of most is called "all".
    made_of : str or None
        Another data set whose parts, one after the other, are this one.
    """

    name: str
    description: str
    n_transactions: int
    n_items: int
    n_ones: int | None
    citation: str
    licence: str
    page: str
    files: dict[str, DataFile] = field(default_factory=dict, repr=False)
    made_of: str | None = None

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts that can be loaded alone, such as train and test; none for most."""
        return tuple(part for part in self.files if part != "all")

    @property
    def urls(self) -> tuple[str, ...]:
        """Where the files are downloaded from."""
        return tuple(file.url for file in self.files.values() if file.url)

    @property
    def verified_by(self) -> str:
        """How its files are checked."""
        if not self.files:
            return "nothing to download: it is generated"
        if all(file.fingerprint for file in self.files.values()):
            return "a known checksum of the transactions"
        return "its size; the checksum of the first download is kept, and later ones must have it"

    def __str__(self) -> str:
        ones = f", {self.n_ones:,} ones" if self.n_ones else ""
        lines = [
            f"{self.name}: {self.description}",
            f"size      {self.n_transactions:,} transactions x {self.n_items:,} items{ones}",
            f"parts     {', '.join(self.parts) or 'none'}",
            f"cite      {self.citation}",
            f"licence   {self.licence}",
            f"page      {self.page}",
            *(f"url       {url}" for url in self.urls),
            f"checked   {self.verified_by}",
        ]
        return "\n".join(lines)
