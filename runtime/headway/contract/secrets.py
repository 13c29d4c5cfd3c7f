"""What is injected from secrets: ECS puts it into a container, and no template holds it."""

from dataclasses import dataclass

from headway.contract.environment import Environment, variable


@dataclass(frozen=True, kw_only=True)
class DatabaseSecret(Environment):
    """The job store's coordinates, one variable a key of its secret; ECS injects them, no template holds them.

    Its user may call the job store's functions, and change jobs and steps by nothing else.
    """

    host: str = variable("DATABASE_HOST")
    port: int = variable("DATABASE_PORT")
    dbname: str = variable("DATABASE_NAME")
    username: str = variable("DATABASE_USER")
    password: str = variable("DATABASE_PASSWORD")


@dataclass(frozen=True, kw_only=True)
class OwnerSecret(Environment):
    """Who owns the job store's tables and may change them: what migrates it, and nothing else, is given this."""

    username: str = variable("DATABASE_OWNER_USER")
    password: str = variable("DATABASE_OWNER_PASSWORD")


@dataclass(frozen=True, kw_only=True)
class ModelSecret(Environment):
    """The model's key, injected by ECS from its secret."""

    api_key: str = variable("MODEL_API_KEY")


@dataclass(frozen=True, kw_only=True)
class WebSecret(Environment):
    """The web service's bearer token, injected by ECS from its secret."""

    token: str = variable("WEB_TOKEN")
