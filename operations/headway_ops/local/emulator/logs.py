"""What tasks print, where a deployed stage would have it: in the log group that their definition names."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ministack.services import ecs

from headway_ops.local.emulator.config import EmulatorConfig
from headway_ops.local.emulator.tail import Tail


def install(logs: Any, config: EmulatorConfig) -> None:
    """Take each task's output in when somebody looks for it, and not before: most of it is never asked for."""
    look, tails = logs._filter_log_events, dict[Path, Tail]()

    def filter_log_events(data: Mapping[str, Any]) -> Any:
        for arn, task in list(ecs._tasks.items()):
            definition = ecs._task_defs[ecs._resolve_td_key(task["taskDefinitionArn"])]
            container = definition["containerDefinitions"][0]
            options = container.get("logConfiguration", {}).get("options", {})
            if options.get("awslogs-group") == data.get("logGroupName"):
                identity = arn.rpartition("/")[2]
                # "Send Amazon ECS logs to CloudWatch" (developer guide): prefix/container/task.
                stream = f"{options['awslogs-stream-prefix']}/{container['name']}/{identity}"
                take(options["awslogs-group"], stream, identity)
        return look(data)

    def take(group: str, stream: str, identity: str) -> None:
        for path in config.logs.glob(f"*-{identity[:8]}.log"):
            events = [{"message": line} for line in tails.setdefault(path, Tail(path)).lines() if line.strip()]
            logs._create_log_stream({"logGroupName": group, "logStreamName": stream})
            logs._put_log_events({"logGroupName": group, "logStreamName": stream, "logEvents": events})

    logs._filter_log_events = filter_log_events
