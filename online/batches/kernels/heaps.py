"""Compiled heaps of next contacts and ends, and a tree for the task of greatest need."""

from __future__ import annotations

from typing import Any

import numpy as np

from hindsched.instances.array_types import Int32s, Ints, Reals
from hindsched.instances.compiling import kernel
from hindsched.online.batches.kernels.arguments import CALLS, ENDS, SHIFT, UNFINISHED, Ends, State

__all__ = ["heapify", "pop_end", "push_end", "replace_call", "reset_tasks", "set_key", "set_keys"]


@kernel
def _sift_down(heap: Ints, size: int, hole: int, key: Any) -> None:
    while True:
        child = 2 * hole + 1
        if child >= size:
            break
        if child + 1 < size and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= key:
            break
        heap[hole] = heap[child]
        hole = child
    heap[hole] = key


@kernel
def heapify(state: State) -> None:
    """Order the calls as a heap."""
    size = state.at[CALLS]
    for place in range(size // 2 - 1, -1, -1):
        _sift_down(state.calls, size, place, state.calls[place])


@kernel
def replace_call(state: State, time: int, worker: int) -> None:
    """Replace the first call by a worker's next contact; a negative time only removes it."""
    size = state.at[CALLS]
    if time >= 0:
        _sift_down(state.calls, size, 0, (np.int64(time) << SHIFT) | worker)
        return
    size -= 1
    state.at[CALLS] = size
    if size > 0:
        _sift_down(state.calls, size, 0, state.calls[size])


@kernel
def push_end(state: State, ends: Ends, time: int, worker: int, task: int) -> None:
    """Add the end of a task; the heap must have room."""
    hole = state.at[ENDS]
    state.at[ENDS] = hole + 1
    key = (np.int64(time) << SHIFT) | worker
    while hole > 0:
        parent = (hole - 1) // 2
        if ends.key[parent] <= key:
            break
        ends.key[hole] = ends.key[parent]
        ends.task[hole] = ends.task[parent]
        hole = parent
    ends.key[hole] = key
    ends.task[hole] = task


@kernel
def pop_end(state: State, ends: Ends) -> int:
    """Remove the next end and return its task."""
    first = ends.task[0]
    size = state.at[ENDS] - 1
    state.at[ENDS] = size
    key, task = ends.key[size], ends.task[size]
    hole = 0
    while True:
        child = 2 * hole + 1
        if child >= size:
            break
        if child + 1 < size and ends.key[child + 1] < ends.key[child]:
            child += 1
        if ends.key[child] >= key:
            break
        ends.key[hole] = ends.key[child]
        ends.task[hole] = ends.task[child]
        hole = child
    ends.key[hole] = key
    ends.task[hole] = task
    return int(first)


@kernel
def set_key(keys: Reals, best: Int32s, task: int, key: float) -> None:
    """Change the need of a task; of equal tasks the first is the best."""
    keys[task] = key
    node = (task + keys.size) >> 1
    while node >= 1:
        left, right = best[2 * node], best[2 * node + 1]
        best[node] = left if keys[left] >= keys[right] else right
        node >>= 1


@kernel
def set_keys(keys: Reals, best: Int32s) -> None:
    """Rebuild the tree after changes of many keys."""
    for node in range(keys.size - 1, 0, -1):
        left, right = best[2 * node], best[2 * node + 1]
        best[node] = left if keys[left] >= keys[right] else right


@kernel
def reset_tasks(state: State, tasks: int, key: float) -> None:
    """Begin a batch: no task has ended, all have the same need."""
    state.at[UNFINISHED] = tasks
    size = state.keys.size
    for task in range(size):
        state.keys[task] = key if task < tasks else -np.inf
        state.best[size + task] = task
    for node in range(size - 1, 0, -1):
        state.best[node] = state.best[2 * node]
