"""Evaluation: the figures of one prediction, all together and by length, beside those of the floor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from itemix.core import display

if TYPE_CHECKING:
    import pandas as pd

_COUNTS = ("n_true", "n_predicted", "n_correct")
_RATES = ("false_negative_rate", "false_positive_rate", "precision", "recall")
_MEANS = ("mean_relative_error", "mean_relative_bias")
_SHOWN = {
    "missed": "false_negative_rate",
    "false": "false_positive_rate",
    "error": "mean_relative_error",
    "bias": "mean_relative_bias",
}


@dataclass(frozen=True)
class Criteria:
    """The paper's criteria over some itemsets, as fractions.

    Parameters
    ----------
    n_true : int
        How many itemsets are frequent in the test data.
    n_predicted : int
        How many are predicted to be.
    n_correct : int
        How many are both.
    mean_relative_error : float or None
        The mean of abs(p - f) / f over the true itemsets, f being the support in the test data and p the
        predicted one (the paper's E-hat, eq. crit); None where there is none.
    mean_relative_bias : float or None
        The mean of (p - f) / f over the true itemsets (D-hat, eq. crit2): below zero where supports are
        under-estimated; None where there is none.
    """

    n_true: int
    n_predicted: int
    n_correct: int
    mean_relative_error: float | None
    mean_relative_bias: float | None

    @property
    def false_negative_rate(self) -> float:
        """The part of the true itemsets that is not predicted (F-); 0 where there is none to miss."""
        return (self.n_true - self.n_correct) / max(self.n_true, 1)

    @property
    def false_positive_rate(self) -> float:
        """The part of the predicted itemsets that is not true (F+); 0 where none is predicted."""
        return (self.n_predicted - self.n_correct) / max(self.n_predicted, 1)

    @property
    def precision(self) -> float:
        """The part of the predicted itemsets that is true, 1 - F+."""
        return 1.0 - self.false_positive_rate

    @property
    def recall(self) -> float:
        """The part of the true itemsets that is predicted, 1 - F-."""
        return 1.0 - self.false_negative_rate

    def to_dict(self) -> dict[str, Any]:
        """Return all figures by name."""
        return {name: getattr(self, name) for name in (*_COUNTS, *_RATES, *_MEANS)}

    @classmethod
    def from_dict(cls, figures: dict[str, Any]) -> Self:
        """Take the criteria back out of what `to_dict` has returned."""
        return cls(**{name: figures[name] for name in (*_COUNTS, *_MEANS)})


@dataclass(frozen=True, repr=False)
class Evaluation:
    """How well a prediction tells the frequent itemsets of a test set: an immutable value.

    It prints as a table, in per cent: the part of the true itemsets that was missed, the part of the
    predicted ones that is false, the mean relative error and the mean relative bias of the supports, each
    beside the floor.

    Parameters
    ----------
    min_support : float
        The threshold, as a fraction.
    n_transactions : int
        The number of transactions in the test set.
    overall : Criteria
        The figures over itemsets of all lengths; the evaluation has them as its own attributes too.
    lengths : tuple of (int, Criteria)
        The figures for each length of which there are true or predicted itemsets; see `by_length`.
    log_likelihood : float or None
        The mean log-probability of a test transaction, -inf if the model rules one out; None if the
        prediction is no model.
    floor : Evaluation or None
        The evaluation of the training set's exact supports as a prediction; None if it was not given.
    """

    min_support: float
    n_transactions: int
    overall: Criteria
    lengths: tuple[tuple[int, Criteria], ...]
    log_likelihood: float | None = None
    floor: Evaluation | None = None

    @property
    def by_length(self) -> dict[int, Criteria]:
        """The figures for each length of itemsets."""
        return dict(self.lengths)

    @property
    def n_true(self) -> int:
        """How many itemsets are frequent in the test data."""
        return self.overall.n_true

    @property
    def n_predicted(self) -> int:
        """How many itemsets are predicted to be frequent."""
        return self.overall.n_predicted

    @property
    def n_correct(self) -> int:
        """How many itemsets are predicted and true."""
        return self.overall.n_correct

    @property
    def false_negative_rate(self) -> float:
        """The part of the true itemsets that is not predicted (F-)."""
        return self.overall.false_negative_rate

    @property
    def false_positive_rate(self) -> float:
        """The part of the predicted itemsets that is not true (F+); 0 where none is predicted."""
        return self.overall.false_positive_rate

    @property
    def precision(self) -> float:
        """The part of the predicted itemsets that is true, 1 - F+."""
        return self.overall.precision

    @property
    def recall(self) -> float:
        """The part of the true itemsets that is predicted, 1 - F-."""
        return self.overall.recall

    @property
    def mean_relative_error(self) -> float:
        """The mean of abs(p - f) / f over the true itemsets (E-hat)."""
        return _known(self.overall.mean_relative_error)

    @property
    def mean_relative_bias(self) -> float:
        """The mean of (p - f) / f over the true itemsets (D-hat)."""
        return _known(self.overall.mean_relative_bias)

    def table(self) -> display.Table:
        """Return the figures in per cent as a table of text, for people."""
        floor = {} if self.floor is None else dict(self.floor.rows())
        headers = ["true", "predicted"]
        for header in _SHOWN:
            headers += [header] if self.floor is None else [header, "floor"]
        rows = []
        for length, own in self.rows():
            cells = [display.format_count(own.n_true), display.format_count(own.n_predicted)]
            for name in _SHOWN.values():
                cells.append(_percent(getattr(own, name)))
                if self.floor is not None:
                    # A length that is predicted here but not by the floor is none of the true ones.
                    cells.append(_percent(getattr(floor.get(length), name, None)))
            rows.append((*cells, "all" if length is None else str(length)))
        return display.Table(self._title(), (*headers, "length"), tuple(rows), self._footer())

    def _title(self) -> str:
        parts = [
            f"Evaluation: {display.plural(self.n_true, 'true itemset')}",
            f"support >= {display.format_percent(self.min_support)}",
            f"of {display.plural(self.n_transactions, 'transaction')}",
        ]
        return display.joined(parts)

    def _footer(self) -> str:
        value = self.log_likelihood
        return "" if value is None else f"log-likelihood of a transaction: {value:.4f}"

    def rows(self) -> list[tuple[int | None, Criteria]]:
        """Return the figures over all lengths, marked None, and then those of each length."""
        return [(None, self.overall), *self.lengths]

    def __repr__(self) -> str:
        return self.table().as_text()

    def _repr_html_(self) -> str:
        return self.table().as_html()

    def to_dict(self) -> dict[str, Any]:
        """Return all figures by name, as JSON has them; `from_dict` takes them back.

        ``by_length`` is a list with the figures and the length, ``floor`` such a dictionary or None.
        """
        return {
            "min_support": self.min_support,
            "n_transactions": self.n_transactions,
            **self.overall.to_dict(),
            "log_likelihood": self.log_likelihood,
            "by_length": [{"length": length, **own.to_dict()} for length, own in self.lengths],
            "floor": None if self.floor is None else self.floor.to_dict(),
        }

    @classmethod
    def from_dict(cls, figures: dict[str, Any]) -> Self:
        """Take an evaluation back out of what `to_dict` has returned, also after a trip through JSON."""
        return cls(
            min_support=figures["min_support"],
            n_transactions=figures["n_transactions"],
            overall=Criteria.from_dict(figures),
            lengths=tuple((row["length"], Criteria.from_dict(row)) for row in figures["by_length"]),
            log_likelihood=figures["log_likelihood"],
            floor=None if figures["floor"] is None else cls.from_dict(figures["floor"]),
        )

    def to_pandas(self) -> pd.DataFrame:
        """Return the figures as a data frame: a row for all lengths (length is missing), then one for each.

        The column prediction says whose figures they are, "model" or "floor". What is not known is missing.
        """
        import pandas as pd

        both = {"model": self, "floor": self.floor}
        rows = [
            {
                "prediction": prediction,
                "length": length,
                **own.to_dict(),
                "log_likelihood": evaluation.log_likelihood if length is None else None,
            }
            for prediction, evaluation in both.items()
            if evaluation is not None
            for length, own in evaluation.rows()
        ]
        numbers = dict.fromkeys((*_RATES, *_MEANS, "log_likelihood"), "float64")
        return pd.DataFrame(rows).astype({"length": "Int64", **numbers})


def _known(mean: float | None) -> float:
    assert mean is not None  # noqa: S101 - an evaluation has true itemsets: see `evaluate`
    return mean


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.2f}%"
