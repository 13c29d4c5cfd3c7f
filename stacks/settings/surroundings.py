"""Where the stage is: what it imports or creates, what its account asks of it, or the laptop that stands in."""

from stacks.settings.frozen import Frozen


class Network(Frozen):
    """The VPC: imported by its ids, or created."""

    vpc_id: str
    availability_zones: list[str]
    private_subnet_ids: list[str]
    max_azs: int
    nat_gateways: int


class Cluster(Frozen):
    """The ECS cluster: imported by name, or created."""

    name: str


class Image(Frozen):
    """The worker image: imported by digest, or built from runtime/."""

    name: str


class Encryption(Frozen):
    """The KMS key that encrypts messages, drawings, the database and created secrets, or AWS's own keys."""

    key_arn: str


class Governance(Frozen):
    """What an account's owners ask of every stack in it."""

    permissions_boundary_arn: str
    bootstrap_qualifier: str
    tags: dict[str, str]


class Laptop(Frozen):
    """What stands in for AWS's and the model's own durations when the stage runs on a laptop."""

    speed: float
    task_start_min_s: float
    task_start_max_s: float
    schedule_min_wall_s: float
    call_min_s: float
    call_max_s: float
