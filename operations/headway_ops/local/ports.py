"""Which loopback port is free?"""

import socket

LOOPBACK = "127.0.0.1"


def free_port() -> int:
    """Return a loopback port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
        return port


def answers(port: int) -> bool:
    """Return whether somebody listens on a loopback port."""
    with socket.socket() as probe:
        probe.settimeout(1.0)
        return probe.connect_ex((LOOPBACK, port)) == 0
