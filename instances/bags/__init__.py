"""Bags of identical tasks on desktop machines that are switched on and off (docs/bags/model.md)."""

from instances.bags.files import INSTANCE_FORMATS, read_instance, write_instance
from instances.bags.model import Instance, Store

__all__ = ["INSTANCE_FORMATS", "Instance", "Store", "read_instance", "write_instance"]
