"""A resolved value of a template as one text, each reference in it as <what it names>."""

import json
from typing import Any


def flat(value: Any) -> str:
    """Return ``value`` as cdk-nag writes it in a finding (cdk-nag 3, flatten-cfn-reference.js).

    >>> flat({"Fn::Join": ["", ["arn:", {"Ref": "AWS::Partition"}, ":sqs:", {"Fn::GetAtt": ["Queue", "Arn"]}]]})
    'arn:<AWS::Partition>:sqs:<Queue.Arn>'
    """
    match value:
        case str():
            return value
        case {"Fn::Join": [separator, parts]}:
            return str(separator).join(flat(part) for part in parts)
        case {"Fn::GetAtt": [name, attribute]}:
            return f"<{name}.{attribute}>"
        case {"Ref": name}:
            return f"<{name}>"
        case _:
            return json.dumps(value, separators=(",", ":"))
