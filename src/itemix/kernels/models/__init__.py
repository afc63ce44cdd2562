"""Kernels that fit models and answer from them: E-steps, samplers, trees, maximum entropy, probabilities."""
