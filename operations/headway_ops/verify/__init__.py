"""Promotion step by step: may a stack be deployed, and does it do what the next one builds on?"""

from headway_ops.verify.subject import Patience, Subject
from headway_ops.verify.verification import Verification, verify_after, verify_before

__all__ = ["Patience", "Subject", "Verification", "verify_after", "verify_before"]
