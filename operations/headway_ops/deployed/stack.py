"""One stack as CloudFormation has it: its template, what each logical id became, and its outputs."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError


@dataclass(frozen=True)
class Resource:
    """One resource: its type, its properties as the template has them, and its physical id."""

    kind: str
    properties: Mapping[str, Any]
    physical_id: str


@dataclass(frozen=True)
class Stack:
    """A deployed stack; ``resources`` by logical id. ``life``: what tells it from an earlier stack of its name."""

    name: str
    life: str
    status: str
    template: Mapping[str, Any]
    resources: Mapping[str, Resource]
    outputs: Mapping[str, str]

    @property
    def settled(self) -> bool:
        """Whether its last change has ended well (CloudFormation user guide, "Stack status codes")."""
        return self.status in ("CREATE_COMPLETE", "UPDATE_COMPLETE", "IMPORT_COMPLETE")

    @property
    def moving(self) -> bool:
        """Whether a change is going on."""
        return self.status.endswith("_IN_PROGRESS")

    def of(self, kind: str, prefix: str = "") -> Iterator[tuple[str, Resource]]:
        """Yield the resources of a type whose logical ids begin with ``prefix``."""
        for logical_id, resource in self.resources.items():
            if resource.kind == kind and logical_id.startswith(prefix):
                yield logical_id, resource

    def one(self, kind: str, prefix: str = "") -> Resource | None:
        """Return the first of ``of``, or None."""
        return next((resource for _, resource in self.of(kind, prefix)), None)


def read_stack(cloudformation: Any, name: str) -> Stack | None:
    """Return a stack, or None where there is none of that name."""
    try:
        (described,) = cloudformation.describe_stacks(StackName=name)["Stacks"]
    except ClientError as error:
        # "Stack with id ... does not exist" is a ValidationError (CloudFormation API, DescribeStacks).
        if error.response["Error"]["Code"] == "ValidationError":
            return None
        raise
    template = _plain(cloudformation.get_template(StackName=name, TemplateStage="Original")["TemplateBody"])
    pages = cloudformation.get_paginator("list_stack_resources").paginate(StackName=name)
    physical = {
        row["LogicalResourceId"]: row.get("PhysicalResourceId", "")
        for page in pages
        for row in page["StackResourceSummaries"]
    }
    return Stack(
        name=name,
        # The last group of the UUID in arn:aws:cloudformation:region:account:stack/name/uuid.
        life=described["StackId"].rpartition("-")[2],
        status=described["StackStatus"],
        template=template,
        resources={
            logical_id: Resource(resource["Type"], resource.get("Properties", {}), physical[logical_id])
            for logical_id, resource in template["Resources"].items()
            if logical_id in physical
        },
        outputs={output["OutputKey"]: output["OutputValue"] for output in described.get("Outputs", ())},
    )


def _plain(template: Any) -> Any:
    """Boto3 gives a JSON template as an ordered mapping, and any other as its text."""
    return json.loads(template if isinstance(template, str) else json.dumps(template))
