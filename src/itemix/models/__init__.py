"""The models: distributions over transactions, and the posterior of their parameters."""
