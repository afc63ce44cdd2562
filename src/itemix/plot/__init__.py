"""Pictures of itemsets, models, rules and evaluations, drawn by matplotlib on axes that are given or made.

Every function takes ``ax=None`` and returns the axes. They look right on light and on dark paper, and print.
matplotlib is imported when the first picture is drawn: ``pip install itemix[plots]`` brings it.
"""

from itemix.plot.components import component_heatmap, component_sizes
from itemix.plot.dependencies import dependency_matrix, dependency_network
from itemix.plot.fits import evaluation_by_length, trace
from itemix.plot.itemsets import length_distribution, support_agreement, support_distribution, top_itemsets
from itemix.plot.rules import rules_scatter

__all__ = [
    "component_heatmap",
    "component_sizes",
    "dependency_matrix",
    "dependency_network",
    "evaluation_by_length",
    "length_distribution",
    "rules_scatter",
    "support_agreement",
    "support_distribution",
    "top_itemsets",
    "trace",
]
