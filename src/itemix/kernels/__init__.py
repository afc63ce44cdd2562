"""Numba kernels: pure functions of arrays. They trust their input; callers check it."""
