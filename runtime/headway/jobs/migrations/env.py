"""Runs the revisions on the connection that headway.jobs.migrate hands over, in its transaction."""

import sqlalchemy as sa
from alembic import context

from headway.jobs.schema import metadata

connection: sa.Connection = context.config.attributes["connection"]
# Any number that nothing else uses: it makes concurrent upgrades wait (PostgreSQL manual, 13.3.5 Advisory Locks).
connection.execute(sa.text("SELECT pg_advisory_xact_lock(7325614)"))
context.configure(connection=connection, target_metadata=metadata, transaction_per_migration=False)
context.run_migrations()
