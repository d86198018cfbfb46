"""Availability of real machines: readers of traces, and the states they give."""

from instances.traces.event_table import read_event_table
from instances.traces.reader import read
from instances.traces.samples import read_samples
from instances.traces.trace import Trace, Window

__all__ = ["Trace", "Window", "read", "read_event_table", "read_samples"]
