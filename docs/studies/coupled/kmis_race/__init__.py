"""The core search beside general solvers, a pattern miner and two C searches."""
