"""Services, tasks and protection through the ECS API, in the conductor's hands instead of a container engine's."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from ministack.core.responses import error_response_json, json_response

from headway_ops.local.emulator.conductor import Conductor
from headway_ops.loop import Refusal


def install(ecs: Any, conductor: Conductor) -> None:
    """Let the conductor schedule services and stop tasks, and make protection hold."""
    ecs._reconcile_service_tasks = lambda cluster, service: conductor.wake()
    ecs._get_docker = lambda: None
    # Services are created and changed by threads of the emulator's own, which look through tables of tasks.
    for name in ("_create_service", "_update_service", "_delete_service"):
        setattr(ecs, name, conductor.alone(getattr(ecs, name)))
    ecs._ACTION_MAP.update(
        CreateService=ecs._create_service, UpdateService=ecs._update_service, DeleteService=ecs._delete_service
    )

    def stop_task(data: Mapping[str, Any]) -> Any:
        task = ecs._resolve_task(data.get("task", ""), ecs._resolve_cluster_name(data.get("cluster", "default")))
        if not task:
            return error_response_json("InvalidParameterException", "The referenced task was not found.", 400)
        conductor.stop(task["taskArn"], data.get("reason", "Task stopped by user"))
        return json_response({"task": ecs._sanitize(task)})

    def update_protection(data: Mapping[str, Any]) -> Any:
        done: list[dict[str, Any]] = []
        failures: list[dict[str, Any]] = []
        for name in data["tasks"]:
            arn = ecs._resolve_task(name, ecs._resolve_cluster_name(data["cluster"]))["taskArn"]
            refusal = conductor.protect(arn, on=data["protectionEnabled"], minutes=data.get("expiresInMinutes"))
            if refusal:
                failures.append({"arn": arn, "reason": refusal.reason, "detail": refusal.detail})
            else:
                done.append(_protection(conductor, arn))
        return json_response({"protectedTasks": done, "failures": failures})

    def get_protection(data: Mapping[str, Any]) -> Any:
        cluster = ecs._resolve_cluster_name(data["cluster"])
        known = [task for name in data.get("tasks", ()) if (task := ecs._resolve_task(name, cluster))]
        return json_response({"protectedTasks": [_protection(conductor, t["taskArn"]) for t in known], "failures": []})

    ecs._stop_task = stop_task
    ecs._ACTION_MAP.update(RunTask=conductor.run_once)
    ecs._ACTION_MAP.update(StopTask=stop_task, UpdateTaskProtection=update_protection, GetTaskProtection=get_protection)


def install_schedules(eventbridge: Any, conductor: Conductor) -> None:
    """Let a rule start tasks, which the emulator takes for a target and then leaves alone."""
    invoke = eventbridge._invoke_target

    def invoke_target(target: Mapping[str, Any], *about: Any) -> None:
        task = target.get("EcsParameters")
        if task is None:
            invoke(target, *about)
            return
        request = {"cluster": target["Arn"], "taskDefinition": task["TaskDefinitionArn"], "launchType": "FARGATE"}
        conductor.run_on_schedule({**request, "count": task.get("TaskCount", 1)})

    eventbridge._invoke_target = invoke_target


def _protection(conductor: Conductor, arn: str) -> dict[str, Any]:
    expiry = conductor.protected_until(arn)
    return {"taskArn": arn, "protectionEnabled": expiry is not None, **({"expirationDate": expiry} if expiry else {})}


def agent_answer(conductor: Conductor, arn: str, refusal: Refusal | None) -> tuple[int, bytes]:
    """Return the agent endpoint's answer: a refusal is data in a 200, as the real agent answers.

    Shapes: amazon-ecs-agent, ecs-agent/tmds/handlers/taskprotection/v1.
    """
    if refusal and refusal.reason == "InvalidParameterException":
        return 400, json.dumps(
            {"requestID": arn, "error": {"Arn": arn, "Code": refusal.reason, "Message": refusal.detail}}
        ).encode()
    if refusal:
        return 200, json.dumps({"failure": {"Arn": arn, "Reason": refusal.reason, "Detail": refusal.detail}}).encode()
    expiry = conductor.protected_until(arn)
    protection: dict[str, Any] = {"ProtectionEnabled": expiry is not None, "TaskArn": arn}
    if expiry is not None:
        protection["ExpirationDate"] = datetime.fromtimestamp(expiry, UTC).isoformat()
    return 200, json.dumps({"protection": protection}).encode()
