"""Availability of real machines: readers of traces, and the states they give."""

from instances.traces.event_log import read_event_log
from instances.traces.event_table import read_event_table
from instances.traces.json_samples import read_json_samples
from instances.traces.packaged import packaged_traces, read_packaged
from instances.traces.reader import read
from instances.traces.samples import read_samples
from instances.traces.trace import Trace, Window

__all__ = [
    "Trace",
    "Window",
    "packaged_traces",
    "read",
    "read_event_log",
    "read_event_table",
    "read_json_samples",
    "read_packaged",
    "read_samples",
]
