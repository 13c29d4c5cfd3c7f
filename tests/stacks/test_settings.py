"""stages.toml as it is read: overlays, types, and one line for whatever cannot be used."""

from pathlib import Path

import pytest

from stacks.loading import STAGES_FILE, SettingsError, load_stage, load_stages


def written(folder: Path, more: str) -> Path:
    """Return a copy of stages.toml's base, followed by ``more``."""
    base = STAGES_FILE.read_text(encoding="utf-8").split("[stages.dev]")[0]
    file = folder / "stages.toml"
    file.write_text(base + more, encoding="utf-8")
    return file


def test_stage_is_the_base_with_its_own_tables_over_it(tmp_path: Path) -> None:
    """A stage changes what it names, at any depth, and keeps the rest of the base."""
    stage = load_stage("mine", written(tmp_path, "[stages.mine.services.heavy]\nconcurrency = 2\n"))
    assert (stage.services.heavy.concurrency, stage.services.fast.concurrency) == (2, 32)
    assert stage.name == "mine"


def test_stages_keep_the_files_order(tmp_path: Path) -> None:
    """Stages come in the order in which they are written, which is the order they are promoted in."""
    assert list(load_stages(written(tmp_path, "[stages.b]\n[stages.a]\n"))) == ["b", "a"]


def test_settings_cannot_be_changed() -> None:
    """A stage's settings are frozen."""
    with pytest.raises(ValueError, match="frozen"):
        load_stage("dev").region = "us-east-1"


BAD: list[tuple[str, str]] = [
    ("[stages.a]\nfast_lane = 'maybe'\n", "stages.a.fast_lane = 'maybe': input should be 'off', 'ready' or 'on'"),
    (
        "[stages.a.services.heavy]\nconcurrency = '8'\n",
        "stages.a.services.heavy.concurrency = '8': input should be a valid integer",
    ),
    (
        "[stages.a.services.heavy]\nconcurrency = true\n",
        "stages.a.services.heavy.concurrency = True: input should be a valid integer",
    ),
    ("[stages.a.services.heavy]\nthreads = 8\n", "stages.a.services.heavy.threads: extra inputs are not permitted"),
    ("[stages.a.laptop]\nspeed = 2.0\n", "stages.a.laptop.task_start_min_s: field required"),
    ("[stages.a.lanes.heavy]\nwait_time_s = 0\n", "stages.a.lanes.heavy.wait_time_s = 0: is short polling; set 20"),
    ("[stages.a.scaling]\npublish_every_s = 30\n", "stages.a.scaling.publish_every_s = 30: input should be 10 or 60"),
    ("[stages.a\n", "not TOML: "),
    ("", "stages: missing; define at least one table [stages.NAME]"),
]


@pytest.mark.parametrize(("more", "line"), BAD)
def test_unusable_file_is_one_line(tmp_path: Path, more: str, line: str) -> None:
    """The message names file, stage, field and value, in a single line."""
    with pytest.raises(SettingsError) as caught:
        load_stages(written(tmp_path, more))
    message = str(caught.value)
    assert message.startswith(f"stages.toml: {line}")
    assert "\n" not in message


def test_missing_file_is_one_line(tmp_path: Path) -> None:
    """A file that is not there says so."""
    with pytest.raises(SettingsError, match=r"^none.toml: cannot be read: No such file or directory$"):
        load_stages(tmp_path / "none.toml")


def test_unknown_stage_lists_the_known_ones() -> None:
    """A mistyped stage is answered with the stages there are."""
    with pytest.raises(SettingsError, match=r"^stage = 'pord': unknown; stages.toml has dev, staging, prod, local$"):
        load_stage("pord")


def test_plan_comes_from_the_heavy_service_and_the_quota() -> None:
    """Prod: 120 calls // (8 slots x 1 call) = 15 tasks."""
    plan = load_stage("prod").plan
    assert (plan.min_tasks, plan.cap, plan.concurrency) == (1, 15, 8)
