"""Runs a command in an image's files as ECS would: its user, its environment, a read-only root and an empty /tmp."""

from collections.abc import Iterator, Sequence

from tests.image.buildah import Image

#: Mounts, then gives way to the command, which so keeps the process id: what is sent to it arrives.
_ENTER = """
set -e
mount --bind "$1" "$1"
mount --options remount,bind,ro "$1"
mount --rbind /proc "$1/proc"
mount --rbind /dev "$1/dev"
for volume in $2; do mount --types tmpfs --options mode=1777 tmpfs "$1$volume"; done
root=$1 user=$3
shift 3
exec chroot --userspec="$user" "$root" "$@"
"""


def command(image: Image, arguments: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the command line that runs ``arguments``, or what the image says, in namespaces of its own.

    It passes on the environment that it is given, over the image's own.
    """
    return (
        *("unshare", "--mount", "--propagation=private", "sh", "-c", _ENTER, "enter"),
        *(str(image.root), " ".join(image.volumes), image.user),
        *_within(image, arguments or image.command),
    )


def beside(image: Image, pid: int, arguments: Sequence[str]) -> tuple[str, ...]:
    """Return the command line that runs ``arguments`` in the container of process ``pid``, as a health check is."""
    return (
        *("nsenter", f"--target={pid}", "--mount", "chroot", f"--userspec={image.user}", str(image.root)),
        *_within(image, arguments),
    )


def _within(image: Image, arguments: Sequence[str]) -> Iterator[str]:
    yield from ("env", f"--chdir={image.folder}", *image.environment, *arguments)
