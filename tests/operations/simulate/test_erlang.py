"""The simulator's engine, lanes and workers wait as long as queueing theory says."""

import pytest

from tests.bench.queueing import erlang_c_wait, mean_wait

#: Servers, load, and the mean wait in service times that Erlang C gives.
POINTS = [(1, 0.7, 2.333), (4, 0.8, 0.746), (16, 0.9, 0.370), (60, 0.95, 0.200)]


@pytest.mark.parametrize(("servers", "load", "theory"), POINTS)
def test_erlang_c(servers: int, load: float, theory: float) -> None:
    """The 95% interval over twenty replications covers Erlang C; for one server that is load / (1 - load)."""
    assert erlang_c_wait(servers, load) == pytest.approx(theory, abs=5e-4)
    mean, half = mean_wait(servers, load, customers=40_000)
    assert mean - half <= theory <= mean + half
    assert half < 0.15 * theory
