"""itemix: learn a mixture model from transactions once, and answer every itemset question from it.

The public names are imported when they are first used, so that ``import itemix`` is quick.
"""

from __future__ import annotations

TYPE_CHECKING = False  # to import it from typing would take longer than all of this
if TYPE_CHECKING:
    from typing import Any

    from itemix import plot
    from itemix.core.binning import Bins
    from itemix.core.items import Items
    from itemix.core.itemsets import Itemsets
    from itemix.core.transactions import Transactions
    from itemix.data import datasets
    from itemix.errors import (
        DatasetUnavailableError,
        EngineError,
        InvalidInputError,
        ItemixError,
        MissingExtraError,
        MissingFileError,
        ModelFileError,
        NotEnoughMemoryError,
        OutputError,
        TooManyItemsetsError,
        UnknownGroupError,
        UnknownItemError,
    )
    from itemix.estimators import (
        BayesianMixture,
        BernoulliMixture,
        ChowLiuMixture,
        ChowLiuTree,
        DirichletProcessMixture,
        IndependentModel,
        LatentTreeModel,
        MaxEntropyModel,
        MultipleCauseMixture,
        Summary,
        compare_components,
        fit,
        summarise,
        surprises,
    )
    from itemix.evaluation import (
        Evaluation,
        RecommendationEvaluation,
        evaluate,
        evaluate_recommendations,
    )
    from itemix.files import load
    from itemix.fitted import learn_recommender
    from itemix.io.chunks import read_chunks
    from itemix.io.partitions import Partitions, from_dask, from_spark, partitions
    from itemix.io.read import read_transactions
    from itemix.io.write import write_transactions
    from itemix.mining.comparison import Comparison, ComponentShifts, compare
    from itemix.mining.mine import mine
    from itemix.mining.rules import rules
    from itemix.mining.ruleset import Rules
    from itemix.mining.surprise import Surprises
    from itemix.models.causes import CauseMixture
    from itemix.models.corrected import CorrectedMixture
    from itemix.models.latent import LatentTree
    from itemix.models.maxent import MaxEntropy
    from itemix.models.mixture import Mixture
    from itemix.models.trees import TreeMixture
    from itemix.report import write_report

__version__ = "0.2.0"

__all__ = [
    "BayesianMixture",
    "BernoulliMixture",
    "Bins",
    "CauseMixture",
    "ChowLiuMixture",
    "ChowLiuTree",
    "Comparison",
    "ComponentShifts",
    "CorrectedMixture",
    "DatasetUnavailableError",
    "DirichletProcessMixture",
    "EngineError",
    "Evaluation",
    "IndependentModel",
    "InvalidInputError",
    "ItemixError",
    "Items",
    "Itemsets",
    "LatentTree",
    "LatentTreeModel",
    "MaxEntropy",
    "MaxEntropyModel",
    "MissingExtraError",
    "MissingFileError",
    "Mixture",
    "ModelFileError",
    "MultipleCauseMixture",
    "NotEnoughMemoryError",
    "OutputError",
    "Partitions",
    "RecommendationEvaluation",
    "Rules",
    "Summary",
    "Surprises",
    "TooManyItemsetsError",
    "Transactions",
    "TreeMixture",
    "UnknownGroupError",
    "UnknownItemError",
    "compare",
    "compare_components",
    "datasets",
    "evaluate",
    "evaluate_recommendations",
    "fit",
    "from_dask",
    "from_spark",
    "learn_recommender",
    "load",
    "mine",
    "partitions",
    "plot",
    "read_chunks",
    "read_transactions",
    "rules",
    "summarise",
    "surprises",
    "write_report",
    "write_transactions",
]

_HOME = {
    "BayesianMixture": "itemix.estimators",
    "BernoulliMixture": "itemix.estimators",
    "Bins": "itemix.core.binning",
    "CauseMixture": "itemix.models.causes",
    "ChowLiuMixture": "itemix.estimators",
    "ChowLiuTree": "itemix.estimators",
    "Comparison": "itemix.mining.comparison",
    "ComponentShifts": "itemix.mining.comparison",
    "CorrectedMixture": "itemix.models.corrected",
    "DatasetUnavailableError": "itemix.errors",
    "DirichletProcessMixture": "itemix.estimators",
    "EngineError": "itemix.errors",
    "Evaluation": "itemix.evaluation",
    "IndependentModel": "itemix.estimators",
    "InvalidInputError": "itemix.errors",
    "ItemixError": "itemix.errors",
    "Items": "itemix.core.items",
    "Itemsets": "itemix.core.itemsets",
    "LatentTree": "itemix.models.latent",
    "LatentTreeModel": "itemix.estimators",
    "MaxEntropy": "itemix.models.maxent",
    "MaxEntropyModel": "itemix.estimators",
    "MissingExtraError": "itemix.errors",
    "MissingFileError": "itemix.errors",
    "Mixture": "itemix.models.mixture",
    "ModelFileError": "itemix.errors",
    "MultipleCauseMixture": "itemix.estimators",
    "NotEnoughMemoryError": "itemix.errors",
    "OutputError": "itemix.errors",
    "Partitions": "itemix.io.partitions",
    "RecommendationEvaluation": "itemix.evaluation",
    "Rules": "itemix.mining.ruleset",
    "Summary": "itemix.estimators",
    "Surprises": "itemix.mining.surprise",
    "TooManyItemsetsError": "itemix.errors",
    "Transactions": "itemix.core.transactions",
    "TreeMixture": "itemix.models.trees",
    "UnknownGroupError": "itemix.errors",
    "UnknownItemError": "itemix.errors",
    "compare": "itemix.mining.comparison",
    "compare_components": "itemix.estimators",
    "evaluate": "itemix.evaluation",
    "evaluate_recommendations": "itemix.evaluation",
    "learn_recommender": "itemix.fitted",
    "fit": "itemix.estimators",
    "load": "itemix.files",
    "mine": "itemix.mining.mine",
    "from_dask": "itemix.io.partitions",
    "from_spark": "itemix.io.partitions",
    "partitions": "itemix.io.partitions",
    "read_chunks": "itemix.io.chunks",
    "read_transactions": "itemix.io.read",
    "rules": "itemix.mining.rules",
    "summarise": "itemix.estimators",
    "surprises": "itemix.estimators",
    "write_report": "itemix.report",
    "write_transactions": "itemix.io.write",
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
