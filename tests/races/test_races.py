"""A few random races, and each mutant; `make races` plays a hundred thousand."""

import pytest

from tests.races.mutants import MUTANTS, Mutant, caught
from tests.races.players import Hall


def test_no_race_breaks_a_rule(races: Hall) -> None:
    """Never canceled and accepted, one terminal event a job, one cost row a call, no deadlock, no time run back."""
    assert races.play(races=300, seed=1) == []


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_lock_that_is_taken_away_is_missed(races: Hall, mutant: Mutant) -> None:
    """Races break a rule without it: each of the locks and guards is needed, and the races would tell."""
    assert caught(mutant, races, seed=2)
