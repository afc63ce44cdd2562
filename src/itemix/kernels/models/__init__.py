"""Kernels that answer: probabilities under mixtures, corrections, trees and maximum entropy."""
