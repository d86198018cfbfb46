"""Readers of availability traces."""
