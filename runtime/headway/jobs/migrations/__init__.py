"""Schema revisions, in order; alembic loads them by path."""
