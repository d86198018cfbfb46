"""What solvers of any family are driven by: other people's solvers, the growing horizon, models in files."""
