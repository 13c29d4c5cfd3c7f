"""Serve the model: python -m headway_ops.local.model PORT CONFIG_JSON."""

import json
import sys

import uvicorn

from headway_ops.local.model.server import ModelConfig, create_app


def main() -> None:
    """Serve on the loopback port until the process is ended."""
    port, config = int(sys.argv[1]), ModelConfig(**json.loads(sys.argv[2]))
    uvicorn.run(create_app(config), host="127.0.0.1", port=port, log_level="warning", timeout_graceful_shutdown=1)


if __name__ == "__main__":
    main()
