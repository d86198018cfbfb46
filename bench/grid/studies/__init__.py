"""Measurements of this family that its documentation rests on."""
