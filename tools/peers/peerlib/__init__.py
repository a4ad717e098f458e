"""Shared code of the peers' scripts. See ../README.md."""
