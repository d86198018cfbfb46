"""The core search compared with general solvers, a pattern miner and two C searches."""
