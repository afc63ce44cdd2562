"""itemix: learn a mixture model from transactions once, and answer every itemset question from it.

The public names are imported when they are first used, so that ``import itemix`` is quick.
"""

from __future__ import annotations

TYPE_CHECKING = False  # that of typing takes longer to import than all of this
if TYPE_CHECKING:
    from typing import Any

    from itemix import plot
    from itemix.corrected import CorrectedMixture
    from itemix.data import datasets
    from itemix.data.chunks import read_chunks
    from itemix.data.readers import read_transactions
    from itemix.data.writers import write_transactions
    from itemix.errors import (
        DatasetUnavailableError,
        InvalidInputError,
        ItemixError,
        MissingExtraError,
        MissingFileError,
        ModelFileError,
        NotEnoughMemoryError,
        OutputError,
        TooManyItemsetsError,
        UnknownItemError,
    )
    from itemix.estimators import (
        BayesianMixture,
        BernoulliMixture,
        ChowLiuMixture,
        ChowLiuTree,
        DirichletProcessMixture,
        IndependentModel,
        MaxEntropyModel,
    )
    from itemix.evaluation import Evaluation, evaluate
    from itemix.items import Items
    from itemix.itemsets import Itemsets
    from itemix.maxent import MaxEntropy
    from itemix.mining.rules import rules
    from itemix.mining.ruleset import Rules
    from itemix.mining.search import mine
    from itemix.mixture import Mixture
    from itemix.report import write_report
    from itemix.storage import load
    from itemix.transactions import Transactions
    from itemix.trees import TreeMixture

__version__ = "0.1.0"

__all__ = [
    "BayesianMixture",
    "BernoulliMixture",
    "ChowLiuMixture",
    "ChowLiuTree",
    "CorrectedMixture",
    "DatasetUnavailableError",
    "DirichletProcessMixture",
    "Evaluation",
    "IndependentModel",
    "InvalidInputError",
    "ItemixError",
    "Items",
    "Itemsets",
    "MaxEntropy",
    "MaxEntropyModel",
    "MissingExtraError",
    "MissingFileError",
    "Mixture",
    "ModelFileError",
    "NotEnoughMemoryError",
    "OutputError",
    "Rules",
    "TooManyItemsetsError",
    "Transactions",
    "TreeMixture",
    "UnknownItemError",
    "datasets",
    "evaluate",
    "load",
    "mine",
    "plot",
    "read_chunks",
    "read_transactions",
    "rules",
    "write_report",
    "write_transactions",
]

_HOME = {
    "BayesianMixture": "itemix.estimators",
    "BernoulliMixture": "itemix.estimators",
    "ChowLiuMixture": "itemix.estimators",
    "ChowLiuTree": "itemix.estimators",
    "CorrectedMixture": "itemix.corrected",
    "DatasetUnavailableError": "itemix.errors",
    "DirichletProcessMixture": "itemix.estimators",
    "Evaluation": "itemix.evaluation",
    "IndependentModel": "itemix.estimators",
    "InvalidInputError": "itemix.errors",
    "ItemixError": "itemix.errors",
    "Items": "itemix.items",
    "Itemsets": "itemix.itemsets",
    "MaxEntropy": "itemix.maxent",
    "MaxEntropyModel": "itemix.estimators",
    "MissingExtraError": "itemix.errors",
    "MissingFileError": "itemix.errors",
    "Mixture": "itemix.mixture",
    "ModelFileError": "itemix.errors",
    "NotEnoughMemoryError": "itemix.errors",
    "OutputError": "itemix.errors",
    "Rules": "itemix.mining.ruleset",
    "TooManyItemsetsError": "itemix.errors",
    "Transactions": "itemix.transactions",
    "TreeMixture": "itemix.trees",
    "UnknownItemError": "itemix.errors",
    "evaluate": "itemix.evaluation",
    "load": "itemix.storage",
    "mine": "itemix.mining.search",
    "read_chunks": "itemix.data.chunks",
    "read_transactions": "itemix.data.readers",
    "rules": "itemix.mining.rules",
    "write_report": "itemix.report",
    "write_transactions": "itemix.data.writers",
}
_MODULES = {"datasets": "itemix.data.datasets", "plot": "itemix.plot"}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - any public name
    import importlib

    if name in _MODULES:
        return importlib.import_module(_MODULES[name])
    if name in _HOME:
        value = getattr(importlib.import_module(_HOME[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'itemix' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
