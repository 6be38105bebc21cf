"""What is counted, and how Prometheus reads it.

Counting costs an index and an addition, because it happens on every request; the exposition is made when somebody asks.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator

from prometheus_client import CollectorRegistry, PlatformCollector, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
REQUEST_BOUNDS = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
_MOST_LABELS = 5000


class Histogram:
    """Durations in seconds, by bucket."""

    __slots__ = ("bounds", "counts", "sum")

    def __init__(self, bounds: tuple[float, ...] = REQUEST_BOUNDS) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.sum = 0.0

    def observe(self, seconds: float) -> None:
        """Count one duration."""
        self.counts[bisect_left(self.bounds, seconds)] += 1
        self.sum += seconds

    def buckets(self) -> list[tuple[str, float]]:
        """Return cumulative counts by upper bound, as Prometheus wants them."""
        total, rows = 0.0, []
        for bound, count in zip((*map(str, self.bounds), "+Inf"), self.counts, strict=True):
            total += count
            rows.append((bound, total))
        return rows


class Metrics(Collector):
    """Everything one replica counts.

    Attributes:
        requests: durations by route, method and status.
        resolve_seconds: durations of resolutions that were computed.
        lookups: look-ups by engine and release.
        architectures: look-ups and resolutions by engine and architecture.
        verdicts: resolutions by engine, release and verdict.
        refusals: refusals by engine, release and step.
        gauges: values read when somebody asks.
    """

    def __init__(self) -> None:
        self.requests: dict[tuple[str, str, int], Histogram] = {}
        self.resolve_seconds = Histogram()
        self.lookups: Counter[tuple[str, ...]] = Counter()
        self.architectures: Counter[tuple[str, ...]] = Counter()
        self.verdicts: Counter[tuple[str, ...]] = Counter()
        self.refusals: Counter[tuple[str, ...]] = Counter()
        self.failed_auth: Counter[tuple[str, ...]] = Counter()
        self.answers: Counter[tuple[str, ...]] = Counter()
        self.gauges: dict[str, tuple[str, Callable[[], float]]] = {}
        self._registry = CollectorRegistry()
        self._registry.register(self)
        ProcessCollector(registry=self._registry)
        PlatformCollector(registry=self._registry)

    def request(self, route: str, method: str, status: int) -> Histogram:
        """Return the histogram of one kind of request."""
        key = (route, method, status)
        found = self.requests.get(key)
        if found is None:
            found = self.requests[key] = Histogram()
        return found

    def count(self, counter: Counter[tuple[str, ...]], *labels: str) -> None:
        """Count one under *labels*; what strangers name is bounded."""
        if labels in counter or len(counter) < _MOST_LABELS:
            counter[labels] += 1

    def exposition(self) -> bytes:
        """Return everything in Prometheus' text format."""
        return generate_latest(self._registry)

    def collect(self) -> Iterator[Metric]:
        """Yield every metric."""
        yield self._request_metric()
        resolve = HistogramMetricFamily("archcap_resolve_seconds", "Time to compute a resolution.")
        resolve.add_metric([], self.resolve_seconds.buckets(), self.resolve_seconds.sum)
        yield resolve
        yield from self._counters()
        for name, (says, read) in self.gauges.items():
            yield GaugeMetricFamily(name, says, value=read())

    def _request_metric(self) -> Metric:
        family = HistogramMetricFamily(
            "archcap_request_seconds", "Time to answer a request.", labels=["route", "method", "status"]
        )
        for (route, method, status), one in list(self.requests.items()):
            family.add_metric([route, method, str(status)], one.buckets(), one.sum)
        return family

    def _counters(self) -> Iterator[Metric]:
        rows = [
            ("lookups", "Answered look-ups.", self.lookups, ["engine", "release"]),
            ("architectures", "Answers about an architecture.", self.architectures, ["engine", "architecture"]),
            ("resolutions", "Resolutions.", self.verdicts, ["engine", "release", "verdict"]),
            ("refusals", "Refused launches by the step that refuses.", self.refusals, ["engine", "release", "step"]),
            ("auth_failures", "Requests without the right to what they asked.", self.failed_auth, ["code"]),
            ("answer_cache", "Resolutions by whether the answer was remembered.", self.answers, ["result"]),
        ]
        for name, says, counter, labels in rows:
            family = CounterMetricFamily(f"archcap_{name}", says, labels=labels)
            for values, count in list(counter.items()):
                family.add_metric(list(values), count)
            yield family
