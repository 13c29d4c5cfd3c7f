"""Who looks may not see everything: that says nothing of the stage."""

from botocore.exceptions import ClientError

#: How AWS's services refuse a caller without the right (IAM user guide, "Troubleshoot access denied error messages";
#: EC2 and SNS have words of their own).
_CLOSED = ("AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "AuthorizationError")


def closed(error: ClientError) -> bool:
    """Return whether AWS refused the caller, and not the request."""
    return error.response["Error"]["Code"] in _CLOSED
