"""How well predictions do on unseen data: the paper's criteria of itemsets, and those of recommendations."""

from itemix.evaluation.criteria import Criteria, Evaluation, evaluate
from itemix.evaluation.recommendations import RecommendationEvaluation, evaluate_recommendations

__all__ = [
    "Criteria",
    "Evaluation",
    "RecommendationEvaluation",
    "evaluate",
    "evaluate_recommendations",
]
