"""Compares `bench` with PyTorch: the networks in PyTorch, and the comparison. See README.md."""
