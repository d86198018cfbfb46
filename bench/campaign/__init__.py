"""Campaigns: which rows are made, by whom, and how none is lost."""
