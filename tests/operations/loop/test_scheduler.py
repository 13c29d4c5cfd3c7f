"""The service scheduler, against the ECS developer guide."""

from hypothesis import given
from hypothesis import strategies as st

from headway_ops.loop import Service, Start, Stop, Task, TaskState, schedule, throttle_s

RUNNING, STARTING, STOPPING = TaskState.RUNNING, TaskState.STARTING, TaskState.STOPPING


def task(name: str, *, revision: str = "v1", state: TaskState = RUNNING, started: float = 0) -> Task:
    """A task of the first revision, running unless said otherwise."""
    return Task(id=name, revision=revision, state=state, started=started)


def stopped(actions: list[Start | Stop]) -> set[str]:
    """The tasks that the actions stop."""
    return {action.task for action in actions if isinstance(action, Stop)}


def started(actions: list[Start | Stop]) -> int:
    """How many tasks the actions start."""
    return sum(action.count for action in actions if isinstance(action, Start))


def test_missing_tasks_are_started_and_those_that_stop_do_not_count() -> None:
    """A service keeps its desired count; a stopping task is gone already."""
    actions = schedule(Service(desired=3, revision="v1"), [task("a"), task("b", state=STOPPING)], lambda _: False)
    assert actions == [Start(revision="v1", count=2)]


def test_a_scale_in_stops_unprotected_tasks_only() -> None:
    """The guide: protected tasks are not terminated by scale-in, even if fewer can be stopped than asked."""
    actions = schedule(Service(desired=0, revision="v1"), [task("a"), task("b"), task("c")], lambda t: t != "b")
    assert stopped(actions) == {"b"}


def test_a_scale_in_prefers_tasks_that_do_not_run_yet() -> None:
    """A task that is still starting holds no work."""
    tasks = [task("old"), task("new", state=STARTING, started=10)]
    assert stopped(schedule(Service(desired=1, revision="v1"), tasks, lambda _: False)) == {"new"}


def test_nothing_is_scaled_in_while_a_deployment_runs() -> None:
    """The guide: a service does not scale in during a deployment; here only the old revision's tasks are replaced."""
    tasks = [task("old"), *(task(f"new{n}", revision="v2") for n in range(3))]
    assert stopped(schedule(Service(desired=1, revision="v2"), tasks, lambda _: False)) == {"old"}


def test_a_deployment_starts_new_tasks_within_the_maximum_percent() -> None:
    """With 200 percent, as many new tasks as desired start beside the old ones; with 100 percent none can."""
    old = [task("a"), task("b")]
    assert started(schedule(Service(desired=2, revision="v2"), old, lambda _: False)) == 2
    assert started(schedule(Service(desired=2, revision="v2", max_percent=100), old, lambda _: False)) == 0


def test_a_deployment_keeps_the_minimum_healthy_percent_running() -> None:
    """With 100 percent, an old task stops only when a new one runs in its place."""
    tasks = [task("a"), task("b"), task("x", revision="v2"), task("y", revision="v2", state=STARTING)]
    assert len(stopped(schedule(Service(desired=2, revision="v2"), tasks, lambda _: False))) == 1


def test_a_deployment_leaves_protected_old_tasks_running() -> None:
    """The guide: protected tasks of an old deployment stay until their protection is cleared or expires."""
    tasks = [task("a"), task("b"), task("x", revision="v2"), task("y", revision="v2")]
    assert stopped(schedule(Service(desired=2, revision="v2"), tasks, lambda t: t == "a")) == {"b"}


states = st.sampled_from(list(TaskState))


@given(
    st.integers(0, 6),
    st.lists(st.tuples(st.sampled_from(["v1", "v2"]), states, st.booleans()), max_size=10),
)
def test_no_decision_ever_stops_a_protected_task(desired: int, drawn: list[tuple[str, TaskState, bool]]) -> None:
    """For every mix of revisions, states and protections, a protected task is left alone."""
    tasks = [task(str(n), revision=revision, state=state) for n, (revision, state, _) in enumerate(drawn)]
    guarded = {str(n) for n, (_, _, protected) in enumerate(drawn) if protected}
    actions = schedule(Service(desired=desired, revision="v2"), tasks, guarded.__contains__)
    assert not stopped(actions) & guarded


@given(st.integers(0, 6), st.lists(st.tuples(st.sampled_from(["v1", "v2"]), states), max_size=8))
def test_the_scheduler_reaches_the_desired_count_and_revision(desired: int, drawn: list[tuple[str, TaskState]]) -> None:
    """Carrying out its decisions until there are none ends with the desired count of the new revision."""
    tasks = {str(n): task(str(n), revision=revision, state=state) for n, (revision, state) in enumerate(drawn)}
    service = Service(desired=desired, revision="v2")
    for round_ in range(20):
        tasks = {name: t for name, t in tasks.items() if t.state is not STOPPING}
        tasks = {name: task(name, revision=t.revision) for name, t in tasks.items()}
        actions = schedule(service, list(tasks.values()), lambda _: False)
        if not actions:
            break
        for action in actions:
            if isinstance(action, Stop):
                del tasks[action.task]
            else:
                tasks |= {
                    f"{round_}-{n}": task(f"{round_}-{n}", revision=action.revision, state=STARTING)
                    for n in range(action.count)
                }
    assert [t.revision for t in tasks.values()] == ["v2"] * desired


def test_a_service_that_keeps_failing_waits_longer_up_to_27_minutes() -> None:
    """ECS developer guide, "Service throttle logic": at most 27 minutes between restarts."""
    waits = [throttle_s(failures) for failures in range(20)]
    assert waits[0] == 0
    assert waits == sorted(waits)
    assert waits[-1] == 27 * 60
