"""The slot Lagrangian: a dual bound that prices the slots of workers, with chains of iterations as columns."""
