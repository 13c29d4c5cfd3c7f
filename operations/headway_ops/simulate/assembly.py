"""A stage's templates, synthesized or read from a cloud assembly, with what their references name."""

import json
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headway_ops.local import deploy
from headway_ops.local.errors import StageError
from headway_ops.local.processes import Ledger
from stacks.loading import load_stage

_STACK = "aws:cloudformation:stack"


@dataclass(frozen=True)
class Assembly:
    """One stage's templates by stack name."""

    templates: Mapping[str, Mapping[str, Any]]

    def of(self, kind: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield the name and the resolved properties of every resource of one type."""
        for stack, template in self.templates.items():
            for logical_id, resource in template.get("Resources", {}).items():
                if resource["Type"] == kind:
                    yield _name(stack, logical_id), self._resolve(stack, resource.get("Properties", {}))

    def _resolve(self, stack: str, value: Any) -> Any:
        """Return a value with each reference replaced by the name of what it refers to.

        No account has answered yet, so a resource's name, ARN and URL are all its stack and logical id. That is
        enough to tell which part of a stage is meant.
        """
        match value:
            case {"Ref": str(logical_id)}:
                return _name(stack, logical_id)
            case {"Fn::GetAtt": [logical_id, _]}:
                return _name(stack, logical_id)
            case {"Fn::Join": [separator, list(parts)]}:
                return str(separator).join(str(self._resolve(stack, part)) for part in parts)
            case {"Fn::GetStackOutput": {"StackName": other, "OutputName": output}}:
                exported = self.templates.get(other, {}).get("Outputs", {}).get(output, {})
                return self._resolve(other, exported["Value"]) if exported else f"{other}:{output}"
            case dict():
                return {key: self._resolve(stack, item) for key, item in value.items()}
            case list():
                return [self._resolve(stack, item) for item in value]
            case _:
                return value


def of_stage(stage: str, folder: Path | None = None) -> Assembly:
    """Return a stage of the cloud assembly in ``folder`` (a cdk.out), or of one that is synthesized for it.

    Raises:
        SettingsError: there is no such stage in stages.toml, or it is not valid.
        StageError: the app cannot be synthesized, or the folder holds no such stage.
    """
    if folder:
        return read(folder / f"assembly-{stage}")
    load_stage(stage)  # its one line is better than the app's
    return _synthesize(stage)


def _synthesize(stage: str) -> Assembly:
    with tempfile.TemporaryDirectory(prefix="headway-simulate-") as folder:
        output, log = Path(folder) / "cdk.out", Path(folder) / "synth.log"
        deploy.finish(deploy.synthesize(output, log, Ledger(Path(folder) / "processes")), log)
        return read(output / f"assembly-{stage}")


def read(folder: Path) -> Assembly:
    """Return the stage that a cloud assembly's folder holds.

    Raises:
        StageError: there is no assembly.
    """
    try:
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        return Assembly(
            {
                artifact["properties"]["stackName"]: json.loads(
                    (folder / artifact["properties"]["templateFile"]).read_text(encoding="utf-8")
                )
                for artifact in manifest["artifacts"].values()
                if artifact["type"] == _STACK
            }
        )
    except (OSError, ValueError, KeyError) as error:
        raise StageError(f"{folder}: no cloud assembly of a stage ({error}); run cdk synth") from None


def _name(stack: str, logical_id: str) -> str:
    return f"{stack}.{logical_id}"
