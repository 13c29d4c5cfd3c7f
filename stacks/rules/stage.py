"""The stage as a whole: its model, what it imports or creates, and its laptop."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from stacks.rules.problem import Problem, within

if TYPE_CHECKING:
    from stacks.settings import StageSettings

#: An image by digest, so that what was tested is what runs.
_DIGEST = re.compile(r".+@sha256:[0-9a-f]{64}")


def model_problems(stage: "StageSettings") -> Iterator[Problem]:
    """Yield what is wrong with the model."""
    heavy, model = stage.services.heavy, stage.model
    if not 1 <= model.timeout_s < heavy.soft_time_limit_s:
        yield Problem(
            field="model.timeout_s",
            value=model.timeout_s,
            bound=f"must be 1.., under services.heavy.soft_time_limit_s = {heavy.soft_time_limit_s}",
            fix=f"set {heavy.soft_time_limit_s - 300}",
        )
    for name in ("input_usd_per_mtok", "output_usd_per_mtok"):
        yield from within(f"model.{name}", getattr(model, name), 0.0, 10_000.0)


def import_problems(stage: "StageSettings") -> Iterator[Problem]:
    """Yield what is wrong with what is imported or created."""
    if stage.image.name and not _DIGEST.fullmatch(stage.image.name):
        yield Problem(field="image.name", value=stage.image.name, bound="a tag can move", fix="pin name@sha256:digest")
    network = stage.network
    if network.vpc_id and not (network.availability_zones and network.private_subnet_ids):
        yield Problem(
            field="network.vpc_id",
            value=network.vpc_id,
            bound="an imported VPC needs availability_zones and private_subnet_ids",
            fix="list them, one subnet a zone",
        )
    yield from within("network.max_azs", network.max_azs, 2, 6)
    yield from within("network.nat_gateways", network.nat_gateways, 0, network.max_azs)
    store = stage.job_store
    if store.min_acu > store.max_acu:
        yield Problem(
            field="job_store.min_acu",
            value=store.min_acu,
            bound=f"must not exceed max_acu = {store.max_acu}",
            fix="lower it",
        )
    if bool(store.secret_arn) != bool(store.owner_secret_arn):
        yield Problem(
            field="job_store.owner_secret_arn",
            value=store.owner_secret_arn,
            bound="an imported job store has two secrets, a created one neither",
            fix="set both secret_arn and owner_secret_arn, or empty both",
        )
    yield from within("job_store.max_acu", store.max_acu, 1.0, 256.0)
    yield from within("job_store.backup_retention_days", store.backup_retention_days, 1, 35)


def laptop_problems(stage: "StageSettings") -> Iterator[Problem]:
    """Yield what is wrong with the local stage."""
    laptop = stage.laptop
    if laptop is None:
        return
    yield from within("laptop.speed", laptop.speed, 1.0, 600.0)
    yield from within("laptop.schedule_min_wall_s", laptop.schedule_min_wall_s, 0.0, 60.0)
    for low, high in (("task_start_min_s", "task_start_max_s"), ("call_min_s", "call_max_s")):
        if not 0 <= getattr(laptop, low) <= getattr(laptop, high):
            yield Problem(
                field=f"laptop.{low}",
                value=getattr(laptop, low),
                bound=f"must be 0..{high} = {getattr(laptop, high)}",
                fix="lower it",
            )
