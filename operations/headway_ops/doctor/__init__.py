"""What is a stage meant to be, what is deployed, and what really runs? Side by side, each difference by a name."""

from headway_ops.doctor.examine import examine
from headway_ops.doctor.finding import Diagnosis, Finding, Row

__all__ = ["Diagnosis", "Finding", "Row", "examine"]
