"""The kernel of the level search, compiled on first use."""
