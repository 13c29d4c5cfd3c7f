"""When is the quota the limit, and not the fleet?"""

import dataclasses

from headway_ops.simulate import SimulatedStage, simulate
from headway_ops.simulate.policies import clairvoyant
from headway_ops.simulate.workload import Workload

_MOST = 1_000_000


def quota_for(stage: SimulatedStage, workload: Workload, max_wait_s: float) -> int | None:
    """Return the calls in flight without which no fleet keeps to the wait, or None where the stage's quota is enough.

    Asked of the clairvoyant bound, which has every task from the start; to the next tenth of the stage's quota.
    """
    step = max(1, stage.quota_calls // 10)
    if _bound_s(stage, workload, stage.quota_calls) <= max_wait_s:
        return None
    low = high = stage.quota_calls
    while _bound_s(stage, workload, high) > max_wait_s and high < _MOST:
        low, high = high, high * 2
    while high - low > step:
        middle = (low + high) // 2
        low, high = (low, middle) if _bound_s(stage, workload, middle) <= max_wait_s else (middle, high)
    return high


def _bound_s(stage: SimulatedStage, workload: Workload, quota: int) -> float:
    plan = dataclasses.replace(stage.scaling.plan, quota_calls=quota)
    roomy = dataclasses.replace(stage, scaling=dataclasses.replace(stage.scaling, plan=plan))
    return simulate(workload, clairvoyant(roomy), quota=quota, seed=1).heavy_wait_p95_s
