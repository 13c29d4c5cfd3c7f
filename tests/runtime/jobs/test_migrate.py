"""Migrations, on real PostgreSQL."""

import os
import subprocess
import sys

import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from headway.contract import DatabaseSecret
from headway.jobs.schema import metadata
from headway_ops.local.postgres import Server


def test_the_migrated_schema_is_the_one_that_the_code_describes(owner: sa.Engine) -> None:
    """Alembic finds no difference between the two."""
    with owner.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
        types = connection.scalars(
            sa.text(
                "SELECT DISTINCT data_type FROM information_schema.columns WHERE table_schema = 'public'"
                " AND (column_name LIKE '%\\_at' OR column_name IN ('at', 'lease_until'))"
            )
        )
        assert list(types) == ["timestamp with time zone"]


def _run(*arguments: str, env: dict[str, str]) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "headway.jobs", *arguments],
        env={"PATH": os.environ["PATH"], **env},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stderr


def test_several_upgrades_at_once_all_succeed(empty_database: DatabaseSecret, postgres_server: Server) -> None:
    """They wait for each other; the first does the work."""
    command = [sys.executable, "-m", "headway.jobs", "upgrade"]
    env = {"PATH": os.environ["PATH"], **empty_database.to_env(), **postgres_server.owner_secret.to_env()}
    upgrades = [subprocess.Popen(command, env=env) for _ in range(3)]
    assert [upgrade.wait(60) for upgrade in upgrades] == [0, 0, 0]


def test_the_command_upgrades(empty_database: DatabaseSecret, postgres_server: Server) -> None:
    """Twice is once; nothing is said."""
    env = {**empty_database.to_env(), **postgres_server.owner_secret.to_env()}
    assert _run("upgrade", env=env) == (0, "")
    assert _run("upgrade", env=env) == (0, "")


def test_the_command_says_what_is_missing_in_one_line(database: DatabaseSecret, postgres_server: Server) -> None:
    """Exit 3 for what is configured wrong, 4 for a database that does not answer."""
    assert _run("upgrade", env={}) == (3, "headway.jobs: DATABASE_HOST is required\n")
    assert _run(env=database.to_env()) == (3, "headway.jobs: usage: python -m headway.jobs upgrade\n")
    assert _run("upgrade", env=database.to_env()) == (3, "headway.jobs: DATABASE_OWNER_USER is required\n")
    away = {**database.to_env(), **postgres_server.owner_secret.to_env(), "DATABASE_PORT": "1"}
    code, said = _run("upgrade", env=away)
    assert (code, said.count("\n")) == (4, 1)
    assert said.startswith("headway.jobs: job store: ")
