"""Kernels that search: in data, in mixtures, and for rules."""
