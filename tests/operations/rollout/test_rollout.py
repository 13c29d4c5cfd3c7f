"""The rollout switch: one line of stages.toml, one step at a time."""

import tomllib
from pathlib import Path

import pytest

from headway_ops.rollout import RolloutError, edited, obstacles, refusal
from stacks.loading import STAGES_FILE
from tests.operations.rollout.stages import promotion, stage

TEXT = STAGES_FILE.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["dev", "staging", "prod", "local"])
@pytest.mark.parametrize("to", ["off", "ready", "on"])
def test_one_line_is_added_where_the_stage_had_the_bases_switch(name: str, to: str) -> None:
    """Under the stage's own header; every other line stays, comments included."""
    after = edited(TEXT, name, to).splitlines()
    header = after.index(f"[stages.{name}]")
    assert after[header + 1] == f'fast_lane = "{to}"'
    assert after[: header + 1] + after[header + 2 :] == TEXT.splitlines()


def test_a_stages_own_line_is_changed_and_its_comment_stays() -> None:
    """The second step changes the line that the first one added."""
    text = edited(TEXT, "prod", "ready").replace('fast_lane = "ready"', 'fast_lane = "ready"   # since May')
    after = edited(text, "prod", "off")
    assert after == text.replace('fast_lane = "ready"   # since May', 'fast_lane = "off"   # since May')
    assert tomllib.loads(after)["base"]["fast_lane"] == "on"


@pytest.mark.parametrize(
    "text",
    [
        "stages = { dev = { } }\n",
        "[stages]\ndev.fast_lane = 'on'\n",
        "[other]\nx = '''\n[stages.dev]\n'''\n[stages]\ndev = { region = 'r' }\n",
    ],
)
def test_what_cannot_be_edited_line_by_line_is_left_alone(text: str) -> None:
    """One line that says what to do by hand, and no broken file."""
    with pytest.raises(RolloutError, match="by hand"):
        edited(text, "dev", "off")


def test_the_switch_never_skips_a_position() -> None:
    """Off and on are two steps apart, in either direction; every other pair is one step or none."""
    positions = ("off", "ready", "on")
    refused = [(now, to) for now in positions for to in positions if refusal(now, to)]
    assert refused == [("off", "on"), ("on", "off")]


def test_a_lane_is_left_only_when_it_is_drained_and_nobody_sends() -> None:
    """Messages in it, and senders to it, each stand against it; without both it may go."""
    lane_gone = [list(obstacles(stage(), promotion(held=held, sends=sends), "off")) for held, sends in _CASES]
    assert [len(found) for found in lane_gone] == [0, 1, 2]
    assert "7 messages" in lane_gone[1][0]


_CASES = ((0, frozenset[str]()), (7, frozenset[str]()), (7, frozenset({"fast"})))


def test_a_lane_is_used_only_when_it_is_served() -> None:
    """Without a service, and without a running task, producers would send where nobody reads."""
    assert "no service" in next(obstacles(stage(), promotion(), "on"))
    assert "no task" in next(obstacles(stage(running=0), promotion(), "on"))
    assert list(obstacles(stage(running=1), promotion(), "on")) == []


def test_the_file_under_test_is_the_repositorys_own() -> None:
    """The path that the command edits."""
    assert Path(__file__).parents[3] / "stages.toml" == STAGES_FILE
