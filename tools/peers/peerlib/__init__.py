"""What the peers' scripts share. See ../README.md."""
