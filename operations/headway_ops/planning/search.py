"""The cheapest candidate that keeps to a wait, found by changing one number after the other."""

from dataclasses import dataclass, field

from headway_ops.costs import Prices, bill
from headway_ops.planning.candidate import Candidate
from headway_ops.simulate import SimulatedStage, simulate
from headway_ops.simulate.policies import headway
from headway_ops.simulate.workload import Workload
from stacks.settings import Model


@dataclass(frozen=True, kw_only=True)
class Ask:
    """What is asked for: the heavy lane's 95th percentile, seconds, and dollars a month without the model's price."""

    max_wait_s: float
    budget_usd: float


@dataclass(frozen=True, kw_only=True)
class Scored:
    """A candidate, its wait (p95, the mean over seeds) and its dollars a month without the model's price."""

    candidate: Candidate
    wait_s: float
    month_usd: float
    saturated: bool

    def meets(self, ask: Ask) -> bool:
        """Return whether it waits no longer, and costs no more, than was asked."""
        return not self.saturated and self.wait_s <= ask.max_wait_s and self.month_usd <= ask.budget_usd

    def rank(self, ask: Ask) -> tuple[float, float]:
        """Return what to order candidates by: first how far the wait is missed, then the price.

        The wait counts twice where the budget allows it: a candidate over budget is no answer, however short it waits.
        """
        missed = max(self.wait_s / ask.max_wait_s - 1, 0.0) + max(self.month_usd / ask.budget_usd - 1, 0.0)
        return (missed + self.saturated, self.month_usd)


@dataclass
class Scorer:
    """Simulates candidates of one stage under one workload, each once."""

    stage: SimulatedStage
    workload: Workload
    model: Model
    prices: Prices
    seeds: tuple[int, ...] = (1, 2, 3)
    _known: dict[Candidate, Scored] = field(default_factory=dict)

    def score(self, candidate: Candidate) -> Scored:
        """Return a candidate's wait and price."""
        if candidate not in self._known:
            stage = candidate.applied_to(self.stage)
            policy, quota = headway(stage), stage.quota_calls
            runs = [simulate(self.workload, policy, quota=quota, seed=seed) for seed in self.seeds]
            bills = [bill(stage, run, self.model, self.prices) for run in runs]
            self._known[candidate] = Scored(
                candidate=candidate,
                wait_s=sum(run.heavy_wait_p95_s for run in runs) / len(runs),
                month_usd=sum(month.fleet_usd for month in bills) / len(runs),
                saturated=any(run.saturated for run in runs),
            )
        return self._known[candidate]

    @property
    def tried(self) -> list[Scored]:
        """Every candidate that was simulated."""
        return list(self._known.values())


def propose(scorer: Scorer, ask: Ask) -> Scored:
    """Return the best candidate that no change of a single number betters, starting from the stage's own numbers."""
    quota = scorer.stage.quota_calls
    best = scorer.score(Candidate.of(scorer.stage))
    while True:
        near = [scorer.score(candidate) for candidate in best.candidate.neighbours(quota)]
        better = min(near, key=lambda scored: scored.rank(ask))
        if better.rank(ask) >= best.rank(ask):
            return best
        best = better
