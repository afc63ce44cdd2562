"""What the estimators share that learn another model than a mixture of Bernoulli products."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Self

from sklearn.base import BaseEstimator, DensityMixin

from itemix._runtime import interruptible
from itemix.estimators.answers import Answers
from itemix.estimators.reading import read_input

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from itemix.core.transactions import Transactions
    from itemix.inference.loop import Callback


class ModelEstimator(Answers, DensityMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the estimators: a subclass learns its model from transactions."""

    @abstractmethod
    def _learn(self, transactions: Transactions, callbacks: Sequence[Callback]) -> None:
        """Set what is learned."""

    def fit(self, X: Any, y: object = None, *, callbacks: Sequence[Callback] = ()) -> Self:  # noqa: ANN401
        """Fit the model.

        Parameters
        ----------
        X : Transactions, list of lists of str, array, sparse matrix or data frame
            Binary data.
        y : ignored
            For scikit-learn's sake.
        callbacks : sequence of callables
            Each is told every iteration (`itemix.inference.loop.Report`), if there are any; one that returns
            True stops the fit. One that has a method `stage` is also told, in words, what comes before.
        """
        transactions = read_input(self, X)
        with interruptible():
            self._learn(transactions, callbacks)
        self.n_transactions_ = transactions.n_transactions
        return self

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file; `itemix.load` reads it back, and it answers as before."""
        from itemix.files import save

        save(self, path)

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401 - scikit-learn's Tags
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
