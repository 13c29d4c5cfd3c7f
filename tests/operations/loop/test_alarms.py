"""Alarm evaluation, against the tables of "Using Amazon CloudWatch alarms"."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway_ops.loop import AlarmSpec, AlarmState, MetricKey, TreatMissing, evaluate

OK, ALARM, NO_DATA = AlarmState.OK, AlarmState.ALARM, AlarmState.INSUFFICIENT_DATA
#: A state that none of the rules produces by itself, to see it retained.
RETAINED = NO_DATA


def spec(needed: int, periods: int, treat: TreatMissing = TreatMissing.MISSING) -> AlarmSpec:
    """An alarm on values of one or more."""
    return AlarmSpec(
        name="alarm",
        metric=MetricKey("Test", "Metric"),
        comparison="GreaterThanOrEqualToThreshold",
        threshold=1,
        period_s=10,
        evaluation_periods=periods,
        datapoints_to_alarm=needed,
        treat_missing=treat,
    )


def window(drawn: str) -> list[float | None]:
    """Read a window as the guide draws it: X breaches, 0 does not, - is missing; the newest is on the right."""
    return [{"X": 1.0, "0": 0.0, "-": None}[sign] for sign in drawn.split()]


# The guide's tables of "How alarm state is evaluated when data is missing": the window, then the state under missing,
# ignore, breaching and notBreaching. First for 3 of 3, then for 2 of 3.
THREE_OF_THREE = [
    ("0 - X - X", OK, OK, OK, OK),
    ("0 - - - -", OK, OK, OK, OK),
    ("- - - - -", NO_DATA, RETAINED, ALARM, OK),
    ("0 X X - X", ALARM, ALARM, ALARM, ALARM),
    ("- - X - -", ALARM, RETAINED, ALARM, OK),
]
TWO_OF_THREE = [
    ("0 - X - X", ALARM, ALARM, ALARM, ALARM),
    ("0 0 X 0 X", ALARM, ALARM, ALARM, ALARM),
    ("0 - X - -", OK, OK, ALARM, OK),
    ("- - - - 0", OK, OK, ALARM, OK),
    ("- - - X -", ALARM, RETAINED, ALARM, OK),
]


@pytest.mark.parametrize(
    ("needed", "row"), [*((3, row) for row in THREE_OF_THREE), *((2, row) for row in TWO_OF_THREE)]
)
def test_missing_data_is_treated_as_in_the_guides_tables(
    needed: int, row: tuple[str, AlarmState, AlarmState, AlarmState, AlarmState]
) -> None:
    """Each row of the guide's tables comes out for each of the four treatments."""
    drawn, *expected = row
    treatments = (TreatMissing.MISSING, TreatMissing.IGNORE, TreatMissing.BREACHING, TreatMissing.NOT_BREACHING)
    assert [evaluate(spec(needed, 3, treat), window(drawn), RETAINED) for treat in treatments] == expected


@pytest.mark.parametrize(
    ("needed", "periods", "drawn", "state"),
    [
        (1, 1, "0 0 X", ALARM),
        (1, 1, "X X 0", OK),
        (3, 3, "0 0 X X X", ALARM),
        (3, 3, "X X 0 X X", OK),
        (2, 3, "0 0 X 0 X", ALARM),
        (2, 3, "X X 0 0 X", OK),
    ],
)
def test_m_of_n_counts_breaches_in_the_newest_n_periods(
    needed: int, periods: int, drawn: str, state: AlarmState
) -> None:
    """As many as "datapoints to alarm" of the newest "evaluation periods" must breach, in any order."""
    assert evaluate(spec(needed, periods), window(drawn), OK) is state


def test_a_young_breach_with_nothing_else_known_does_not_alarm_early() -> None:
    """The guide: an alarm goes to ALARM only once the oldest breach is as old as the datapoints to alarm."""
    assert evaluate(spec(3, 3), window("- - - - X"), OK) is OK


@given(st.lists(st.sampled_from([0.0, 1.0, None]), min_size=5, max_size=5), st.sampled_from(list(AlarmState)))
def test_missing_data_never_alarms_under_not_breaching(values: list[float | None], current: AlarmState) -> None:
    """With notBreaching, an alarm needs as many real breaches as datapoints to alarm: silence never scales in."""
    state = evaluate(spec(2, 3, TreatMissing.NOT_BREACHING), values, current)
    newest_real = [value for value in reversed(values) if value is not None][:3]
    assert (state is ALARM) == (newest_real.count(1.0) >= 2)


@pytest.mark.parametrize(("period_s", "every_s"), [(10, 10), (30, 30), (60, 60), (300, 60)])
def test_periods_of_a_minute_and_more_are_evaluated_every_minute(period_s: int, every_s: int) -> None:
    """High-resolution alarms are evaluated every 10 or 30 s, all others every minute."""
    alarm = AlarmSpec(
        name="alarm",
        metric=MetricKey("Test", "Metric"),
        comparison="GreaterThanThreshold",
        threshold=0,
        period_s=period_s,
        evaluation_periods=1,
        datapoints_to_alarm=1,
    )
    assert alarm.evaluated_every_s == every_s
