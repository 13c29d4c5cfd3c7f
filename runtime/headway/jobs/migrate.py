"""How does a database become a job store, or a newer one?"""

import dataclasses
from pathlib import Path
from typing import Any

import alembic.command
import alembic.config
import alembic.script
import psycopg
import sqlalchemy as sa
from psycopg import sql

from headway.contract import DatabaseSecret, OwnerSecret
from headway.jobs.database import JobStoreError, connect, first_line

_SCRIPTS = Path(__file__).parent / "migrations"


def upgrade(database: DatabaseSecret, owner: OwnerSecret) -> None:
    """Bring the database to the newest revision, and give the application's user its password and its rights.

    Several at once wait for each other, and one does the work. A database that is newer than this release stays as it
    is: a deployment that is rolled back runs the release before, which works with it.

    Raises:
        JobStoreError: PostgreSQL does not answer.
    """
    config = _config()
    engine = connect(dataclasses.replace(database, username=owner.username, password=owner.password))
    try:
        with engine.begin() as connection:
            if _seen(connection) in {None, *_known(config)}:
                config.attributes["connection"] = connection
                alembic.command.upgrade(config, "head")
            if database.username != owner.username:
                _admit(connection, database)
    except sa.exc.OperationalError as error:
        raise JobStoreError(f"job store: {first_line(error)}") from None
    finally:
        engine.dispose()


def pending(engine: sa.Engine) -> list[str]:
    """Return the revisions that the database has not seen, oldest first, each with what it does.

    Raises:
        JobStoreError: PostgreSQL does not answer, or holds a revision that this release does not know.
    """
    try:
        with engine.connect() as connection:
            seen = _seen(connection)
    except sa.exc.OperationalError as error:
        raise JobStoreError(f"job store: {first_line(error)}") from None
    known = _known(_config())
    if seen is not None and seen not in known:
        raise JobStoreError(f"job store: revision {seen} is newer than this release")
    new = list(known)[list(known).index(seen) + 1 :] if seen else list(known)
    return [f"{revision} {known[revision]}" for revision in new]


def _seen(connection: sa.Connection) -> str | None:
    """Return the database's revision, None where it is no job store yet."""
    if connection.scalar(sa.text("SELECT to_regclass('alembic_version')")) is None:
        return None
    revision: str | None = connection.scalar(sa.text("SELECT version_num FROM alembic_version"))
    return revision


def _known(config: alembic.config.Config) -> dict[str, str]:
    """Return this release's revisions, oldest first, each with what it does."""
    scripts = alembic.script.ScriptDirectory.from_config(config).walk_revisions()
    return {script.revision: script.doc for script in reversed(list(scripts))}


def _config() -> alembic.config.Config:
    config = alembic.config.Config()
    config.set_main_option("script_location", str(_SCRIPTS))
    return config


def _admit(connection: sa.Connection, database: DatabaseSecret) -> None:
    """Make the application's login, or give it another password; the password itself is sent to no log."""
    driver: psycopg.Connection[Any] = connection.connection.dbapi_connection  # type: ignore[assignment]  # connect() made it
    password = driver.pgconn.encrypt_password(
        database.password.encode(), database.username.encode(), b"scram-sha-256"
    ).decode()
    there = connection.scalar(sa.text("SELECT true FROM pg_roles WHERE rolname = :name"), {"name": database.username})
    verb = sql.SQL("ALTER ROLE" if there else "CREATE ROLE")
    name = sql.Identifier(database.username)
    with driver.cursor() as cursor:
        cursor.execute(sql.SQL("{} {} LOGIN PASSWORD {}").format(verb, name, sql.Literal(password)))
        cursor.execute(sql.SQL("GRANT headway_app TO {}").format(name))
