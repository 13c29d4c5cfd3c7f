"""Start the emulator with the stage's parts in it."""

import threading

from ministack import app
from ministack.core import lambda_runtime
from ministack.core.responses import request_scope
from ministack.services import cloudwatch_logs, ecs, eventbridge, lambda_svc, secretsmanager, sqs

from headway_ops.local.emulator import autoscaling, logs, metrics, resources, services, stage_time
from headway_ops.local.emulator.agent import serve_agent
from headway_ops.local.emulator.balancer import serve_balancer
from headway_ops.local.emulator.conductor import Conductor
from headway_ops.local.emulator.config import EmulatorConfig


def main() -> None:
    """Patch what is missing, start the conductor, the agent and the load balancer, and serve until the process ends."""
    config = EmulatorConfig.read()
    clock = stage_time.StageTime(speed=config.speed)
    conductor = Conductor(config, clock)
    resources.install()
    resources.seed_secrets(secretsmanager, config.secrets)
    autoscaling.install(conductor)
    metrics.install(conductor)
    metrics.install_math()
    metrics.install_polls(sqs, conductor)
    services.install(ecs, conductor)
    services.install_schedules(eventbridge, conductor)
    logs.install(cloudwatch_logs, config)
    stage_time.install(eventbridge, sqs, clock)
    stage_time.install_functions(lambda_runtime, lambda_svc)

    def conduct() -> None:
        with request_scope(config.account, config.region):
            conductor.run()

    threading.Thread(target=conduct, name="conductor", daemon=True).start()
    serve_agent(config, conductor)
    serve_balancer(config.web_port, conductor.addresses)
    app.main()


if __name__ == "__main__":
    main()
