"""Transactions in files: readers, writers, and one module for each family of formats."""
