"""How does a database become a job store, or a newer one?"""

from pathlib import Path

import alembic.command
import alembic.config
import sqlalchemy as sa

from headway.contract import DatabaseSecret
from headway.jobs.database import JobStoreError, connect, first_line

_SCRIPTS = Path(__file__).parent / "migrations"


def upgrade(secret: DatabaseSecret) -> None:
    """Bring the database to the newest revision; several at once wait for each other, and one does the work.

    Raises:
        JobStoreError: PostgreSQL does not answer.
    """
    config = alembic.config.Config()
    config.set_main_option("script_location", str(_SCRIPTS))
    engine = connect(secret)
    try:
        with engine.begin() as connection:
            config.attributes["connection"] = connection
            alembic.command.upgrade(config, "head")
    except sa.exc.OperationalError as error:
        raise JobStoreError(f"job store: {first_line(error)}") from None
    finally:
        engine.dispose()
