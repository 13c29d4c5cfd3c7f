"""The Celery settings of anything that sends to the lanes; a worker's are these and more.

Both lanes are known to every sender and every worker: Kombu refuses a queue that is not in ``predefined_queues``
(kombu.transport.SQS.Channel._resolve_queue_url), and with them it asks for no ListQueues and no CreateQueue.
"""

from collections.abc import Mapping
from typing import Any

import kombu

from headway.contract import BrokerEnv, ContractError

BLOCKSPLIT = "headway.blocksplit"
RUN_STEP = "headway.run_step"


def sender_settings(
    env: BrokerEnv, *, connect_timeout_s: float = 2, read_timeout_s: float = 3, attempts: int = 1
) -> Mapping[str, Any]:
    """Return the settings; the timeouts are wall seconds of one request to SQS, which botocore would give 60.

    Raises:
        ContractError: the main lane has no queue.
    """
    if env.main_lane not in env.queue_urls:
        raise ContractError(f"HEADWAY_MAIN_LANE = {env.main_lane!r}: no such lane in HEADWAY_QUEUE_URLS")
    return {
        # No host and no keys: botocore's own chain finds the endpoint and the task role.
        "broker_url": "sqs://",
        "broker_transport_options": {
            "region": env.region,  # Kombu reads AWS_DEFAULT_REGION only
            "predefined_queues": {lane: {"url": url} for lane, url in env.queue_urls.items()},
            "client-config": {
                "connect_timeout": connect_timeout_s,
                "read_timeout": read_timeout_s,
                "retries": {"total_max_attempts": attempts},
            },
        },
        "task_queues": [kombu.Queue(lane, routing_key=lane) for lane in env.queue_urls],
        "task_default_queue": env.main_lane,
        "task_create_missing_queues": False,
        "task_publish_retry": False,
        "task_serializer": "json",
        "accept_content": ["json"],
        "result_backend": None,
        "task_ignore_result": True,
        "enable_utc": True,
    }
