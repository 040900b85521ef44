"""Results: a record with its answer in a sentence, its rows, and its display in a notebook."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from . import records

if TYPE_CHECKING:
    import pandas
    import polars

R = TypeVar("R")
Row = dict[str, Any]


def _time(seconds: float) -> str:
    for unit, name in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if abs(seconds) >= unit:
            return f"{seconds / unit:.4g} {name}"
    return f"{seconds / 1e-9:.3g} ns"


@dataclass(frozen=True, repr=False)
class Result(Generic[R]):
    """The result of a verb."""

    record: R
    """The record, typed after its schema."""
    raw: dict[str, Any]
    """The record as JSON, including unknown keys of a newer Fathom."""

    @property
    def answer(self) -> str:
        """The answer in a sentence."""
        raise NotImplementedError

    def rows(self) -> list[Row]:
        """One row for each command, part or cause."""
        raise NotImplementedError

    def bars(self) -> list[tuple[str, float, str]]:
        """The bars of the picture: a name, a length, and the length as text."""
        raise NotImplementedError

    def to_pandas(self) -> pandas.DataFrame:
        """The rows as a pandas DataFrame, if pandas is installed."""
        import pandas

        return pandas.DataFrame(self.rows())

    def to_polars(self) -> polars.DataFrame:
        """The rows as a polars DataFrame, if polars is installed."""
        import polars

        return polars.DataFrame(self.rows(), infer_schema_length=None)

    def __str__(self) -> str:
        return self.answer

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.answer}>"

    def _repr_html_(self) -> str:
        rows = self.rows()
        names = list(rows[0]) if rows else []

        def cell(value: object) -> str:
            if value is None:
                return ""
            return html.escape(f"{value:.4g}" if isinstance(value, float) else str(value))

        head = "".join(f"<th>{cell(name)}</th>" for name in names)
        body = "".join("<tr>" + "".join(f"<td>{cell(row[name])}</td>" for name in names) + "</tr>" for row in rows)
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        return f"<p><strong>{html.escape(self.answer)}</strong></p>{self._picture()}{table}"

    def _picture(self) -> str:
        bars = self.bars()
        longest = max((abs(length) for _, length, _ in bars), default=0.0) or 1.0
        parts = []
        for at, (name, length, words) in enumerate(bars):
            width, y = 60.0 * abs(length) / longest, 22 * at
            text = html.escape(f"{name[:60]}  {words}")
            parts.append(
                f'<rect x="0" y="{y + 2}" width="{width:.2f}%" height="8" fill="#1560bd"/>'
                f'<text x="0" y="{y + 20}" font-size="11" fill="currentColor">{text}</text>'
            )
        height = 22 * len(bars) + 4
        return (
            f'<svg role="img" aria-label="{html.escape(self.answer, quote=True)}" width="100%" height="{height}" '
            f'style="max-width:640px;font-family:sans-serif">{"".join(parts)}</svg>'
        )


class Bench(Result[records.BenchRecord]):
    """The timings of commands and their comparisons."""

    @property
    def answer(self) -> str:
        outcome = self.record.outcome
        if outcome is None or not outcome.comparisons:
            return "; ".join(f"{name} takes {words}" for name, _, words in self.bars()) or "nothing was measured"
        said = []
        for one in outcome.comparisons:
            subject, reference = (self.record.benchmarks[at].name for at in (one.subject, one.reference))
            ratio = f"{one.ratio.value:.3f}x, {100 * one.ratio.level:.0f} % interval {one.ratio.low:.3f} to {one.ratio.high:.3f}"
            said.append(f"{subject} is {one.verdict} against {reference} in {one.metric} ({ratio})")
        return "; ".join(said)

    def rows(self) -> list[Row]:
        """One row for each command and metric."""
        if self.record.outcome is None:
            return []
        return [
            {
                "command": self.record.benchmarks[result.benchmark].name,
                "metric": summary.metric,
                "median": summary.median.value,
                "low": summary.median.low,
                "high": summary.median.high,
                "min": summary.min,
                "p90": summary.p90,
                "max": summary.max,
                "runs": summary.runs,
            }
            for result in self.record.outcome.results
            for summary in result.summaries
        ]

    def bars(self) -> list[tuple[str, float, str]]:
        wall = [row for row in self.rows() if row["metric"] == "wall"]
        return [(row["command"], row["median"], _time(row["median"])) for row in wall]


class Why(Result[records.WhyRecord]):
    """The account of a command's time."""

    @property
    def answer(self) -> str:
        time = f"{self.record.command} takes {_time(self.record.timed.wall.value)}"
        findings = self.record.findings
        return f"{time}: {findings[0].id}: {findings[0].statement}" if findings else f"{time}: no known cause"

    def rows(self) -> list[Row]:
        """One row for each cause; `where()` has the places."""
        return [
            {
                "id": one.id,
                "share": one.share,
                "saving_ms": one.saving_ns / 1e6,
                "function": one.function,
                "file": one.source_file,
                "line": one.line,
                "statement": one.statement,
                "advice": one.advice,
            }
            for one in self.record.findings
        ]

    def where(self) -> list[Row]:
        """Where the time goes, the largest share first."""
        return [
            {
                "share": row.share,
                "ms": row.ns / 1e6,
                "kind": row.kind,
                "call": row.call,
                "object": row.object,
                "function": row.function,
                "file": row.source_file,
                "line": row.line,
                "count": row.count,
            }
            for row in self.record.where
        ]

    def bars(self) -> list[tuple[str, float, str]]:
        parts = self.record.account.parts
        whole = sum(part.ns for part in parts) or 1
        shown = [part for part in parts if part.ns >= 0.01 * whole]
        return [(part.category, part.ns / whole, f"{100 * part.ns / whole:.0f} %") for part in shown]


class Difference(Result[records.DifferenceRecord]):
    """The time that the second of two commands takes more."""

    @property
    def answer(self) -> str:
        wall = self.record.difference.wall
        interval = f"{100 * wall.level:.0f} % interval {wall.low:.3g} to {wall.high:.3g} ms"
        if wall.low <= 0 <= wall.high:
            return f"no difference ({interval})"
        return f"{self.record.commands[1].command} takes {wall.milliseconds:.3g} ms more than {self.record.commands[0].command} ({interval})"

    def rows(self) -> list[Row]:
        """One row for each part."""
        return [
            {"part": one.part, "of": one.of, "ms": one.milliseconds, "low": one.low, "high": one.high, "file": one.file}
            for one in self.record.difference.rows
        ]

    def bars(self) -> list[tuple[str, float, str]]:
        return [(row["part"], row["ms"], f"{row['ms']:+.3g} ms") for row in self.rows() if row["of"] == "wall"]


class Compare(Result[records.CompareRecord]):
    """The comparison of two saved measurements."""

    @property
    def answer(self) -> str:
        said = [f"{one.benchmark} {one.metric}: {one.verdict} ({one.ratio.value:.3f}x)" for one in self.record.comparisons]
        sides = f"{self.record.head.asked} against {self.record.base.asked}"
        return f"{sides}: {'; '.join(said) or 'nothing could be compared'}"

    def rows(self) -> list[Row]:
        """One row for each benchmark and metric."""
        return [
            {
                "benchmark": one.benchmark,
                "metric": one.metric,
                "unit": one.unit,
                "base": one.base.value,
                "head": one.head.value,
                "ratio": one.ratio.value,
                "low": one.ratio.low,
                "high": one.ratio.high,
                "verdict": one.verdict,
            }
            for one in self.record.comparisons
        ]

    def bars(self) -> list[tuple[str, float, str]]:
        return [(f"{row['benchmark']} {row['metric']}", row["ratio"], f"{row['ratio']:.3f}x") for row in self.rows()]
