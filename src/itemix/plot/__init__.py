"""Pictures of itemsets, models, rules and evaluations, drawn by matplotlib on axes that are given or made.

Every function takes ``ax=None`` and returns the axes. They look right on light and on dark paper, and print.
matplotlib is imported when the first picture is drawn: ``pip install itemix[plots]`` brings it.
"""

from itemix.plot.agreement_picture import support_agreement
from itemix.plot.components import component_heatmap, component_sizes
from itemix.plot.dependencies import dependency_network
from itemix.plot.evaluation_pictures import evaluation_by_length
from itemix.plot.fits import trace
from itemix.plot.itemsets import length_distribution, support_distribution, top_itemsets
from itemix.plot.matrix_picture import dependency_matrix
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
