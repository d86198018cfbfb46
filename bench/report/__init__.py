"""The report of a campaign: one self-contained page, its pictures and its tables."""
