"""Where whoever an alarm wakes reads on."""


def description(text: str, anchor: str) -> str:
    """Return an alarm's description: what is wrong, and the heading of the runbook that says what to do."""
    return f"{text}. Runbook: docs/runbook.md#{anchor}"
