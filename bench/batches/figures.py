"""Draw the paper's Figures 7 to 9 from the rows of the experiment."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hindsched.bench.batches.experiment_rows import times_of
from hindsched.bench.report import canvas
from hindsched.bench.shared_types import Row

__all__ = ["draw_requests", "draw_satisfied"]

Rows = Sequence[Row]


def draw_requests(rows: Rows, path: Path) -> None:
    """Draw the distribution of requests per batch as shares of N (the paper's Figures 7 and 8)."""
    figure, panels = canvas.new_figure(2, heights=(3.2, 3.2))
    for axes, first in zip(panels, ("spread", "start"), strict=True):
        for place, policy in enumerate(("A2", "A2-shift")):
            wanted = ("arrivals", policy, first)
            mine = [row for row in rows if (row["part"], row["policy"], row["first"]) == wanted]
            for row in mine:
                label = policy if row is mine[0] else None
                shares = [tenth / 10 for tenth in range(11)]
                axes.plot(row["requests"], shares, color=canvas.COLOURS[place], alpha=0.4, label=label)
        axes.axvline(1.0, color="black", linewidth=0.8)
        axes.set_xlim(0, 3)
        axes.set_xlabel("requests between submission and L, over N")
        axes.set_ylabel("share of batches")
        axes.set_title(f"first = {first}: one curve per setting and start date", loc="left", fontsize=10)
        if axes.get_legend_handles_labels()[0]:
            axes.legend(loc="lower right")
    canvas.save(figure, path)


def draw_satisfied(rows: Rows, path: Path) -> None:
    """Draw the shares of satisfied batches and tasks per predictor and in the hindsight optimum (Figure 9)."""
    mine = [row for row in rows if (row["part"], row["first"], row.get("copies_lambda")) == ("batches", "spread", 2)]
    settings = times_of(mine)
    figure, panels = canvas.new_figure(2, heights=(2.2, 2.6))
    policies = list(dict.fromkeys(row["policy"] for row in mine))
    for axes, what in zip(panels, ("batches", "tasks"), strict=True):
        for place, policy in enumerate([*policies, "stream"]):
            name = f"stream_{what}" if policy == "stream" else f"satisfied_{what}"
            middles, heights = [], []
            for x, times in enumerate(settings):
                there = [row for row in mine if (row["deadline_s"], row["c"]) == times]
                chosen = [row[name] for row in there if policy in ("stream", row["policy"])]
                if chosen:
                    middles.append(x + 0.2 * (place - 1.5))
                    heights.append(100 * sum(chosen) / len(chosen))
            axes.bar(middles, heights, width=0.18, color=canvas.COLOURS[place], label=policy)
        names = [f"D/{length / c:g} of {length / 3600:g} h" for length, c in settings]
        axes.set_xticks(range(len(settings)), names)
        axes.set_ylim(0, 105)
        axes.set_ylabel(f"satisfied {what}, %")
    panels[0].set_title("stream: the hindsight optimum on the same contacts", loc="left", fontsize=10)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    canvas.save(figure, path)
