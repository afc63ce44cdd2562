"""Slow, obvious twins of kernels/bitsets.py: a row of bits is a set of positions."""

import numpy as np


def as_words(positions, n_words):
    """Turn a set of positions into 64-bit words."""
    number = sum(1 << position for position in positions)
    return np.array([(number >> (64 * w)) % 2**64 for w in range(n_words)], dtype=np.uint64)


def as_positions(words):
    """Turn 64-bit words into the set of positions of their ones."""
    number = sum(int(word) << (64 * w) for w, word in enumerate(words))
    return {position for position in range(number.bit_length()) if number >> position & 1}


def as_arena(rows, n_words, n_free=0):
    """Stack sets of positions as rows of words, with some rows of rubbish behind them."""
    rubbish = [np.full(n_words, 0xABCDEF, dtype=np.uint64)] * n_free
    return np.array([as_words(row, n_words) for row in rows] + rubbish).reshape(-1, n_words)


def count(positions, multiplicities=None):
    """Add up the multiplicities of some positions, by default 1 each."""
    return len(positions) if multiplicities is None else sum(multiplicities[p] for p in positions)


def planes(multiplicities):
    """Return the positions whose multiplicity has each binary digit."""
    digits = range(max(multiplicities, default=0).bit_length())
    return [{p for p, number in enumerate(multiplicities) if number >> digit & 1} for digit in digits]
