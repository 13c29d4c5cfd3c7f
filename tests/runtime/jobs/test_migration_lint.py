"""Each revision through squawk: does it hold a table that a release before it still writes to?"""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from unittest import mock

import alembic.op
import alembic.script
import pytest

from headway.jobs import migrate

_SQUAWK = Path(sys.executable).with_name("squawk")
#: Not asked: identifiers are uuids and what is counted is small; connections of ours have a lock_timeout
#: (database.SESSION), and a statement may take as long as an index takes to build.
_EXCLUDED = (
    "prefer-bigint-over-int",
    "prefer-bigint-over-smallint",
    "require-lock-timeout",
    "require-statement-timeout",
)
#: Made before the first release, when no job store had a row that building an index could have held up.
_ACKNOWLEDGED = {
    "0003": {"require-concurrent-index-creation": 1},
    "0005": {"require-concurrent-index-creation": 4},
}


def found(sql: str) -> Counter[str]:
    """Return how often each of squawk's rules finds fault with statements that run in one transaction."""
    rules = [f"--exclude={rule}" for rule in _EXCLUDED]
    command = [str(_SQUAWK), "--reporter=json", "--pg-version=18", "--assume-in-transaction", *rules]
    done = subprocess.run(command, input=sql, capture_output=True, text=True, check=False)
    return Counter(fault["rule_name"] for fault in json.loads(done.stdout))


def revisions() -> dict[str, str]:
    """Return the statements of each revision, oldest first."""
    scripts = alembic.script.ScriptDirectory.from_config(migrate._config()).walk_revisions()
    written = {}
    for script in reversed(list(scripts)):
        statements = list[str]()
        with mock.patch.object(alembic.op, "execute", statements.append):
            script.module.upgrade()
        written[script.revision] = ";\n".join(statements) + ";\n"
    return written


@pytest.mark.parametrize("revision", revisions())
def test_no_revision_holds_up_the_release_before_it(revision: str) -> None:
    """No lock that outlives a moment, no column that old writers do not fill: but for what is acknowledged, nothing."""
    assert found(revisions()[revision]) == _ACKNOWLEDGED.get(revision, {})


@pytest.mark.parametrize(
    ("sql", "rule"),
    [
        ("CREATE INDEX jobs_name_idx ON jobs (name);", "require-concurrent-index-creation"),
        ("ALTER TABLE jobs ADD COLUMN owner text NOT NULL;", "adding-required-field"),
        ("ALTER TABLE jobs DROP COLUMN reason;", "ban-drop-column"),
        ("ALTER TABLE jobs ALTER COLUMN name SET NOT NULL;", "adding-not-nullable-field"),
    ],
)
def test_what_would_be_found(sql: str, rule: str) -> None:
    """Each of these would hold up, or break, a worker of the release before."""
    assert rule in found(sql)
