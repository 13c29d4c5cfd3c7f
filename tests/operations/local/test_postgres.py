"""The stage's own PostgreSQL."""

import dataclasses
from pathlib import Path

import psutil
import psycopg
import pytest

from headway.contract import DatabaseSecret
from headway_ops.local.ports import answers
from headway_ops.local.postgres import postgres


def connect(secret: DatabaseSecret) -> psycopg.Connection[tuple[int]]:
    """Connect with what the secret holds."""
    return psycopg.connect(
        host=secret.host,
        port=secret.port,
        dbname=secret.dbname,
        user=secret.username,
        password=secret.password,
        connect_timeout=5,
    )


def test_it_answers_on_loopback_only_to_its_password_and_leaves_nothing_behind(tmp_path: Path) -> None:
    """Its password opens it and no other; it listens on 127.0.0.1 alone; after the block, port and data are gone."""
    with postgres(tmp_path) as server:
        secret = server.owner
        with connect(secret) as connection:
            row = connection.execute("SELECT 6 * 7").fetchone()
            assert row == (42,)
        with pytest.raises(psycopg.OperationalError):
            connect(dataclasses.replace(secret, password="wrong"))
        listening = {tuple(c.laddr) for c in psutil.net_connections("tcp") if c.status == "LISTEN"}
        assert {place for place in listening if place[1] == secret.port} == {("127.0.0.1", secret.port)}
    assert not answers(secret.port)
    assert not list(tmp_path.glob("headway-pg-*"))


def test_it_starts_again_with_what_was_committed(tmp_path: Path) -> None:
    """Stopped, nobody answers on its port; started again, the port is the same and so is every row."""
    with postgres(tmp_path) as server:
        with connect(server.owner) as connection:
            connection.execute("CREATE TABLE kept AS SELECT 42 AS number")
        server.stop()
        assert not answers(server.owner.port)
        server.start()
        with connect(server.owner) as connection:
            assert connection.execute("SELECT number FROM kept").fetchone() == (42,)
