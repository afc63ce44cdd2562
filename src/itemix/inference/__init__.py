"""Inference: the algorithms that turn transactions into a mixture, and the loop that drives them."""
