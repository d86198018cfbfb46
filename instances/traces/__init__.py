"""Traces of real machines: one reader per format, and their conversion to states.

To add a format, write a reader module that returns a `Trace` and add it to `reader.read`, which recognises formats.
"""

from hindsched.instances.traces.event_log import read_event_log
from hindsched.instances.traces.event_table import read_event_table
from hindsched.instances.traces.json_samples import read_json_samples
from hindsched.instances.traces.packaged import packaged_traces, read_packaged
from hindsched.instances.traces.reader import read
from hindsched.instances.traces.samples import read_samples
from hindsched.instances.traces.trace import Trace, Window

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
