"""The paper's criteria: how well a prediction tells the frequent itemsets of unseen data."""

from itemix.evaluation.criteria import evaluate
from itemix.evaluation.result import Criteria, Evaluation

__all__ = ["Criteria", "Evaluation", "evaluate"]
