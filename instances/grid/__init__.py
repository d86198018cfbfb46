"""Decentralised as-soon-as-possible grids: rigid parallel jobs that come over time, on identical nodes."""

from instances.grid.files import INSTANCE_FORMATS, read_instance, write_instance
from instances.grid.model import Instance

__all__ = ["INSTANCE_FORMATS", "Instance", "read_instance", "write_instance"]
