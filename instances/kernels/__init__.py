"""What of instances is worth machine code; numba is imported here and nowhere else in this package."""
