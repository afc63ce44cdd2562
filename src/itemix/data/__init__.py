"""Readers, writers, named data sets and generators of synthetic data."""
