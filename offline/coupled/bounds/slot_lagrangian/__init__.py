"""Lagrangian relaxation of the program constraints, with multipliers by worker and slot.

Read in this order: `slot_multipliers`, `chain_search` (the relaxation: chains of labels), `slot_refutation` (one
horizon) and `slot_bound` (branch and bound). docs/bounds.md proves the bound.
"""
