"""Holds `bench` against PyTorch: the networks once more, and the comparison. See README.md."""
