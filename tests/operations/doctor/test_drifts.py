"""The doctor on a real local stage: nothing to find while it is clean, and each drift by its name."""

import pytest

from tests.operations.doctor.drifts import DRIFTS, Outcome, run

pytestmark = [pytest.mark.local_stage, pytest.mark.timeout(400)]


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    """One stage, and every drift in it."""
    return run()


def test_a_clean_stage_has_no_finding(outcome: Outcome) -> None:
    """Everything was compared, the workers' own reports included, and nothing differs."""
    assert outcome.clean.findings == []
    assert outcome.clean.notices == []
    told = [row for row in outcome.clean.rows if row.setting == "HEADWAY_WAIT_TIME_S"]
    # stages.toml: 20 s on the heavy lane, 5 s on the fast one.
    assert [set(row.values.values()) for row in told] == [{"20"}, {"5"}]


def test_each_drift_is_found_by_its_name(outcome: Outcome) -> None:
    """Seeded through the AWS API into the deployed stage, where it was not found before."""
    assert [drift.name for drift in DRIFTS if drift not in outcome.found] == []
