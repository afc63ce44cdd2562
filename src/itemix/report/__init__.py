"""Reports: what a model has found, in one HTML file that needs nothing else."""

from itemix.report.write import render_report, write_report

__all__ = ["render_report", "write_report"]
