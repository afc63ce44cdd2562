"""The paper's criteria: how well a prediction finds the frequent itemsets of unseen data."""

from itemix.evaluation.criteria import Criteria, Evaluation, evaluate

__all__ = ["Criteria", "Evaluation", "evaluate"]
