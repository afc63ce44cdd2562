"""A model that is served: the model, the data beside it, and what is remembered between questions."""

from __future__ import annotations

from collections import OrderedDict
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

from itemix._files import Held
from itemix.errors import InvalidInputError
from itemix.fitted import FittedModel
from itemix.mining import intervals as credible
from itemix.mining import supports
from itemix.mining.mine import mine
from itemix.models.base import as_model
from itemix.web.limits import Limits, held, rounded_up
from itemix.web.searches import Searches

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Hashable

    from itemix._typing import Floats
    from itemix.core.itemsets import Itemsets
    from itemix.core.sets import Sets
    from itemix.core.transactions import Transactions
    from itemix.models.base import Model, Names
    from itemix.models.mixture import Mixture

T = TypeVar("T")

_REMEMBERED = 4
_SETS_AT_FIRST = 500


class Served:
    """One model, by its name.

    Parameters
    ----------
    name : str
        What it is called in addresses and on the page.
    fitted : FittedModel, Model or fitted estimator
        What answers.
    data : Transactions, optional
        The data that answers are compared with; items that the model does not know are left out.
    limits : Limits, optional
        What one answer may cost.
    """

    def __init__(
        self,
        name: str,
        fitted: Any,  # noqa: ANN401 - an estimator or a model
        *,
        data: Transactions | None = None,
        limits: Limits | None = None,
    ) -> None:
        model = fitted.model if isinstance(fitted, FittedModel) else as_model(fitted)
        if model is None:
            raise InvalidInputError(
                f"expected a model to serve as {name!r}, got {type(fitted).__name__}; fit one first"
            )
        self.name = name
        self.fitted = FittedModel.of(fitted)
        self.model: Model = model
        self.data = None if data is None else _with_items_of(model, data)
        self.limits = limits or Limits()
        self.searches = Searches(model, self.limits)
        self._remembered: OrderedDict[Hashable, Any] = OrderedDict()
        self._lock = Lock()
        self._making = Lock()

    @classmethod
    def from_file(
        cls,
        path: str | os.PathLike[str] | Held,
        *,
        data: Transactions | None = None,
        limits: Limits | None = None,
    ) -> Served:
        """Serve the model of a file, by the name of the file without its ending."""
        from itemix.files import read_fitted

        name = path.name if isinstance(path, Held) else path
        return cls(Path(name).stem, read_fitted(path), data=data, limits=limits)

    @property
    def has_intervals(self) -> bool:
        """Whether the model knows how sure it is."""
        return self.fitted.knows_error

    def intervals(
        self,
        itemsets: Itemsets | list[Names],
        level: float,
        *,
        absent: list[Names] | None = None,
        given: Names = (),
        given_absent: Names = (),
    ) -> tuple[Floats, Floats] | None:
        """Return the ends of the intervals of some probabilities, or None if nothing knows how sure it is."""
        if not self.has_intervals:
            return None
        source = self.fitted.error_source
        _, lower, upper = credible.intervals(
            source, itemsets, absent=absent, given=given, given_absent=given_absent, level=level
        )
        return lower, upper

    def exact_support(self, sets: Sets) -> Floats | None:
        """Return the fraction of the data that holds each of some sets, or None if there is no data."""
        if self.data is None:
            return None
        return supports.count(sets, self.data) / max(self.data.n_transactions, 1)

    @property
    def components(self) -> Mixture | None:
        """The components to look at: of one sample of a sampler, the last; None if the model has none."""
        return self.fitted.components

    @cached_property
    def first_threshold(self) -> float:
        """A round threshold that a few hundred sets reach."""
        found = mine(self.model, top_k=_SETS_AT_FIRST).support
        return rounded_up(float(found.min(initial=1.0)), 2)

    def remember(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what was made for a key the last time, or make it; the last few are kept."""
        known: T | None = self._recalled(key)
        if known is not None:
            return known
        # It takes much memory to make: one request at a time does so, and others may want the same.
        with held(self._making):
            known = self._recalled(key)
            if known is None:
                known = make()
                with self._lock:
                    self._remembered[key] = known
                    while len(self._remembered) > _REMEMBERED:
                        self._remembered.popitem(last=False)
        return known

    def _recalled(self, key: Hashable) -> Any:  # noqa: ANN401 - what was made for the key
        with self._lock:
            if key in self._remembered:
                self._remembered.move_to_end(key)
            return self._remembered.get(key)


def _with_items_of(model: Model, data: Transactions) -> Transactions:
    known = [name for name in data.items if name in model.items]
    if not known:
        raise InvalidInputError(
            f"expected data with items of the model, got none of its {model.n_items:,} among the "
            f"{data.n_items:,} of the data; name the data that the model was fitted on"
        )
    return data.select_items(known).align_items(model.items)
