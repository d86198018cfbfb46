"""Machine code of the studies on jobs with a deadline."""
