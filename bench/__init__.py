"""Campaigns, tables, pictures, and the command line."""
