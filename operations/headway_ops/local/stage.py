"""A whole stage on this machine: started in order, observed through the same APIs as a deployed one, ended in full."""

import dataclasses
import fcntl
import json
import os
import secrets
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from headway_ops.local import aws, deploy
from headway_ops.local.emulator.config import EmulatorConfig
from headway_ops.local.errors import StageError
from headway_ops.local.interrupts import end_undisturbed
from headway_ops.local.model.server import ModelConfig
from headway_ops.local.ports import free_port
from headway_ops.local.postgres import Server, postgres
from headway_ops.local.processes import Ledger, spawn, stop
from headway_ops.local.running import LocalStage, directory_of
from stacks.settings import StageSettings

#: The host name that the local stage's template gives the model.
MODEL_HOST = "model.headway.local"

Report = Callable[[str], None]


@contextmanager
def local_stage(
    settings: StageSettings, *, speed: float, seed: int, report: Report, whole: bool = True
) -> Iterator[LocalStage]:
    """Run a stage until the block ends; whatever an earlier run left behind is ended first.

    Without ``whole`` the account is bootstrapped, and its stacks are left to be deployed one by one.

    Raises:
        StageError: it cannot be run as it is set up, or is running already.
        UnreachableError: a part of it does not come up.
    """
    if settings.laptop is None:
        raise StageError(f"stage = {settings.name!r}: has no [stages.{settings.name}.laptop] table; use --stage local")
    directory = directory_of(settings.name)
    directory.mkdir(parents=True, exist_ok=True)
    with ExitStack() as running:
        running.enter_context(_sole(directory))
        _clear(directory)
        ledger = Ledger(directory / "processes")
        try:
            stage = _start(running, settings, directory, ledger, speed=speed, seed=seed, report=report, whole=whole)
            stage.record()
            yield stage
        finally:
            end_undisturbed()
            LocalStage.erase(directory)
            # All at once, so that no task outlives what it talks to.
            ledger.reap()


def _start(
    running: ExitStack,
    settings: StageSettings,
    directory: Path,
    ledger: Ledger,
    *,
    speed: float,
    seed: int,
    report: Report,
    whole: bool,
) -> LocalStage:
    """Start the stage's parts, each to be ended by ``running``; the synthesis goes on beside the others."""
    log, assembly = directory / "cdk.log", directory / "cdk.out"
    report("synthesizing the stage")
    synth = deploy.synthesize(assembly, log, ledger)
    server = running.enter_context(postgres(directory, ledger))
    model_port = free_port()
    web_token = secrets.token_urlsafe(32)
    emulator = _emulator_config(settings, directory, server, model_port, web_token, speed, seed)
    running.enter_context(_model(settings, emulator, ledger))
    running.enter_context(aws.emulator(emulator))
    deploy.finish(synth, log)
    report("deploying its stacks")
    began = time.monotonic()
    account = deploy.Account(number=emulator.account, region=emulator.region, environment=aws.environment(emulator))
    deploy.bootstrap(assembly, account, log, ledger)
    if whole:
        deploy.deploy(f"{settings.name}/*", assembly, account, log, ledger)
    return LocalStage(
        name=settings.name,
        emulator=emulator,
        database=server.secret,
        owner=server.owner_secret,
        model_port=model_port,
        web_token=web_token,
        deploy_s=time.monotonic() - began,
    )


@contextmanager
def _sole(directory: Path) -> Iterator[None]:
    """Hold the stage's lock; it goes with the process, however that ends."""
    with (directory / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StageError(f"a local stage is running in {directory}: end it first (headway down)") from None
        yield


def _clear(directory: Path) -> None:
    Ledger(directory / "processes").reap()
    for path in directory.iterdir():
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        elif path.name != "lock":
            path.unlink(missing_ok=True)


def _emulator_config(
    settings: StageSettings,
    directory: Path,
    server: Server,
    model_port: int,
    web_token: str,
    speed: float,
    seed: int,
) -> EmulatorConfig:
    assert settings.laptop is not None  # noqa: S101  # local_stage refuses a stage without
    secret = {key: str(value) for key, value in dataclasses.asdict(server.secret).items()}
    return EmulatorConfig(
        account=settings.account,
        region=settings.region,
        port=free_port(),
        agent_port=free_port(),
        web_port=free_port(),
        speed=speed,
        task_start_min_s=settings.laptop.task_start_min_s,
        task_start_max_s=settings.laptop.task_start_max_s,
        schedule_min_wall_s=settings.laptop.schedule_min_wall_s,
        seed=seed,
        python=sys.executable,
        hosts={MODEL_HOST: f"127.0.0.1:{model_port}"},
        secrets={
            settings.job_store.secret_arn: json.dumps(secret),
            settings.job_store.owner_secret_arn: json.dumps(dataclasses.asdict(server.owner_secret)),
            settings.model.secret_arn: json.dumps({"api_key": "local"}),
            settings.web.token_secret_arn: json.dumps({"token": web_token}),
        },
        directory=str(directory),
    )


@contextmanager
def _model(settings: StageSettings, emulator: EmulatorConfig, ledger: Ledger) -> Iterator[None]:
    assert settings.laptop is not None  # noqa: S101  # local_stage refuses a stage without
    directory = Path(emulator.directory)
    config = ModelConfig(
        quota_calls=settings.model.quota_calls,
        speed=emulator.speed,
        call_min_s=settings.laptop.call_min_s,
        call_max_s=settings.laptop.call_max_s,
        seed=emulator.seed,
        log=str(directory / "calls.jsonl"),
    )
    port = emulator.hosts[MODEL_HOST].rpartition(":")[2]
    process = spawn(
        [sys.executable, "-m", "headway_ops.local.model", port, json.dumps(dataclasses.asdict(config))],
        env={"PATH": os.defpath, "LANG": "C.UTF-8"},
        log=directory / "model.log",
        ledger=ledger,
    )
    try:
        yield
    finally:
        stop(process, number=signal.SIGTERM, within_s=2)
