"""Migrations, on real PostgreSQL."""

import dataclasses
import os
import subprocess
import sys
from pathlib import Path

import alembic.command
import alembic.config
import alembic.script
import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from headway.contract import DatabaseSecret
from headway.jobs import JobStoreError, connect, migrate
from headway.jobs.database import check
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


_COLUMNS = """
    SELECT table_name, column_name, data_type, is_nullable, column_default IS NOT NULL OR is_identity = 'YES'
    FROM information_schema.columns WHERE table_schema = 'public' AND table_name <> 'alembic_version'
"""
_FUNCTIONS = """
    SELECT concat(proname, '(', pg_get_function_identity_arguments(oid), ') ', pg_get_function_result(oid))
    FROM pg_proc WHERE pronamespace = 'public'::regnamespace
"""


def test_each_revision_leaves_the_release_before_it_at_work(
    empty_database: DatabaseSecret, postgres_server: Server
) -> None:
    """Expand first: every column and function is still as it was, and no new column asks old writers for a value.

    Services of the release before run on while the migration has ended and their replacements start.
    """
    config = alembic.config.Config()
    config.set_main_option("script_location", str(Path(migrate.__file__).parent / "migrations"))
    scripts = list(alembic.script.ScriptDirectory.from_config(config).walk_revisions())
    owner = dataclasses.replace(postgres_server.owner, dbname=empty_database.dbname)
    engine = connect(owner)
    before: dict[tuple[str, str], tuple[str, str, bool]] = {}
    functions: set[str] = set()
    for script in reversed(scripts):
        with engine.begin() as connection:
            config.attributes["connection"] = connection
            alembic.command.upgrade(config, script.revision)
        with engine.connect() as connection:
            rows = connection.execute(sa.text(_COLUMNS)).all()
            now = {(row[0], row[1]): (row[2], row[3], row[4]) for row in rows}
            there = set(connection.scalars(sa.text(_FUNCTIONS)))
        assert {key: now.get(key) for key in before} == before, script.revision
        tables = {table for table, _ in before}
        asked = [key for key in now.keys() - before.keys() if key[0] in tables and now[key][1:] == ("NO", False)]
        assert asked == [], script.revision
        assert functions <= there, script.revision
        before, functions = now, there
    engine.dispose()


def test_what_is_pending_is_told_in_order(empty_database: DatabaseSecret, postgres_server: Server) -> None:
    """All revisions of an empty database, in order; none after the upgrade; a newer one is not this release's."""
    owner = connect(dataclasses.replace(postgres_server.owner, dbname=empty_database.dbname))
    missing = migrate.pending(owner)
    assert [line[:4] for line in missing[:2]] == ["0001", "0002"]
    assert "The first tables" in missing[0]
    migrate.upgrade(empty_database, postgres_server.owner_secret)
    assert migrate.pending(owner) == []
    with owner.begin() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(JobStoreError, match="revision 9999 is newer than this release"):
        migrate.pending(owner)
    owner.dispose()


def test_a_newer_job_store_is_left_to_the_release_that_is_rolled_back_to(
    empty_database: DatabaseSecret, postgres_server: Server
) -> None:
    """The deployment's own step back runs the older release's upgrade: it succeeds, and changes nothing."""
    migrate.upgrade(empty_database, postgres_server.owner_secret)
    owner = connect(dataclasses.replace(postgres_server.owner, dbname=empty_database.dbname))
    with owner.begin() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    migrate.upgrade(empty_database, postgres_server.owner_secret)
    with owner.connect() as connection:
        assert connection.scalar(sa.text("SELECT version_num FROM alembic_version")) == "9999"
    owner.dispose()


def test_an_upgrade_gives_the_application_another_password(
    empty_database: DatabaseSecret, postgres_server: Server
) -> None:
    """As after its secret was rotated: the new one opens the job store."""
    other = dataclasses.replace(empty_database, username="headway_rotated", password="first")
    for password in ("first", "second"):
        rotated = dataclasses.replace(other, password=password)
        migrate.upgrade(rotated, postgres_server.owner_secret)
        engine = connect(rotated)
        check(engine)
        engine.dispose()
