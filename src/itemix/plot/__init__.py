"""Pictures of itemsets, models, rules and evaluations, drawn by matplotlib on axes that are given or made.

Every function takes ``ax=None`` and returns the axes. Pictures look right on light and on dark paper, and can
be printed. matplotlib is imported when the first picture is drawn: ``pip install itemix[plots]`` brings it.
"""

from itemix.plot.canvas import save
from itemix.plot.dependencies import dependency_matrix, dependency_network
from itemix.plot.models import component_heatmap, component_sizes, evaluation_by_length, trace
from itemix.plot.patterns import (
    differences,
    length_distribution,
    rules_scatter,
    support_agreement,
    support_distribution,
    surprises,
    top_itemsets,
)

__all__ = [
    "component_heatmap",
    "component_sizes",
    "dependency_matrix",
    "dependency_network",
    "differences",
    "evaluation_by_length",
    "length_distribution",
    "rules_scatter",
    "save",
    "support_agreement",
    "support_distribution",
    "surprises",
    "top_itemsets",
    "trace",
]
