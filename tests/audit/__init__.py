"""What every stage's templates are held to: rules, permissions, secrets; `python -m tests.audit` writes the report."""
