"""Campaigns: optima and runs as jobs, in parallel and resumable."""
