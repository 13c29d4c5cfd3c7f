"""What may never be, whoever came first: read from the rows that a race left, and from what its players were told."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import psycopg

from tests.races.game import Player, Race

#: Each finds jobs of a batch that break a rule, among the rows as they are at the end.
_RULES = {
    "a terminal event too many or too few": """
        SELECT jobs.id FROM jobs LEFT JOIN events ON job_id = jobs.id AND step_id IS NULL
            AND to_status IN ('succeeded', 'failed', 'canceled')
        WHERE jobs.id = ANY(%(jobs)s) GROUP BY jobs.id
        HAVING count(events.id) <> CASE WHEN status IN ('pending', 'running') THEN 0 ELSE 1 END
            OR bool_or(to_status <> status)
    """,
    "accepted or claimed after its job had ended": """
        SELECT late.job_id FROM events AS late JOIN events AS ended ON ended.job_id = late.job_id
            AND ended.step_id IS NULL AND ended.to_status IN ('succeeded', 'failed', 'canceled')
        WHERE late.job_id = ANY(%(jobs)s) AND late.step_id IS NOT NULL
            AND late.to_status IN ('succeeded', 'running', 'pending') AND late.position > ended.position
    """,
    "a step still open in a job that has ended": """
        SELECT job_id FROM steps JOIN jobs ON jobs.id = job_id WHERE job_id = ANY(%(jobs)s)
            AND steps.status IN ('pending', 'running') AND jobs.status NOT IN ('pending', 'running')
    """,
    "a job still open whose steps have all ended": """
        SELECT jobs.id FROM jobs WHERE jobs.id = ANY(%(jobs)s) AND status IN ('pending', 'running')
            AND NOT EXISTS (SELECT FROM steps WHERE job_id = jobs.id AND steps.status IN ('pending', 'running'))
    """,
    "a transition of a step recorded twice": """
        SELECT job_id FROM events WHERE job_id = ANY(%(jobs)s) AND step_id IS NOT NULL
        GROUP BY job_id, step_id, to_status, attempt HAVING count(*) > 1
    """,
    "another number of accepted calls than of results": """
        SELECT jobs.id FROM jobs WHERE jobs.id = ANY(%(jobs)s)
            AND (SELECT count(*) FROM calls WHERE job_id = jobs.id AND accepted)
                <> (SELECT count(*) FROM steps WHERE job_id = jobs.id AND status = 'succeeded')
    """,
    "a time that ran back": """
        SELECT steps.job_id FROM steps JOIN events ON step_id = steps.id
        WHERE steps.job_id = ANY(%(jobs)s) AND steps.updated_at < events.at
        UNION SELECT jobs.id FROM jobs JOIN events ON job_id = jobs.id AND step_id IS NULL
        WHERE jobs.id = ANY(%(jobs)s) AND jobs.updated_at < events.at
        UNION SELECT ended.job_id FROM events AS ended JOIN events AS earlier ON earlier.job_id = ended.job_id
        WHERE ended.job_id = ANY(%(jobs)s) AND ended.step_id IS NULL AND earlier.step_id IS NOT NULL
            AND earlier.to_status = 'succeeded' AND earlier.at > ended.at
    """,
}
_CALLS = "SELECT job_id, count(*) FROM calls WHERE job_id = ANY(%(jobs)s) GROUP BY job_id"


@dataclass(frozen=True, kw_only=True)
class Violation:
    """A rule that a job broke, and who came for it."""

    rule: str
    job: UUID
    players: tuple[str, ...]


async def judge(
    referee: psycopg.AsyncConnection[Any], batch: Sequence[Race], answers: Sequence[Sequence[Any]]
) -> list[Violation]:
    """Return every violation of a batch."""
    by_job = {race.job: race for race in batch}
    broken = [
        (rule, race.job) for race, told in zip(batch, answers, strict=True) for rule in _by_answers(race.players, told)
    ]
    about = {"jobs": list(by_job)}
    for rule, query in _RULES.items():
        broken += [(rule, row[0]) for row in await (await referee.execute(query, about)).fetchall()]
    rows = dict(await (await referee.execute(_CALLS, about)).fetchall())
    paid = {race.job: sum(player.pays for player in race.players) for race in batch}
    broken += [("another number of cost rows than of calls", job) for job in by_job if rows.get(job, 0) != paid[job]]
    return [
        Violation(rule=rule, job=job, players=tuple(player.kind for player in by_job[job].players))
        for rule, job in broken
    ]


def _by_answers(players: Sequence[Player], answers: Sequence[Any]) -> list[str]:
    """Return the rules that what the players were told breaks by itself."""
    told = list(zip(players, answers, strict=True))
    errors = [f"an error: {answer}" for _, answer in told if isinstance(answer, Exception)]
    if errors:
        return errors
    accepted = [player for player, answer in told if _accepted(player, answer)]
    ends = [answer for player, answer in told if _ended(player, answer)]
    found = []
    if "swept" in ends and accepted:
        found.append("canceled for silence although a callback was accepted")
    if len(ends) > 1:
        found.append("ended more than once")
    # A claim is another attempt each time; an attempt is given up, or finished, once.
    words = Counter(player.call for player in accepted if player.kind != "renew" and player.kind != "claim")
    claims = Counter(answer for player, answer in told if player in accepted and player.kind == "claim")
    if any(times > 1 for times in (*words.values(), *claims.values())):
        found.append("one attempt given twice")
    return found


def _accepted(player: Player, answer: Any) -> bool:
    return answer is True or (player.kind == "claim" and answer[0] == "claimed")


def _ended(player: Player, answer: Any) -> bool:
    return (player.kind == "sweep" and answer == "swept") or (player.kind == "cancel" and answer[0] == "ended")
