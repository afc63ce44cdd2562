"""Kernels that fit: the E-step, Gibbs sweeps, split and merge moves, pairs for trees."""
