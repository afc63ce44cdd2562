"""Named data sets, and generators of synthetic data."""
