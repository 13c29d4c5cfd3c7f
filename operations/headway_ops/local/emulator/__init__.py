"""What the AWS emulator lacks, supplied inside its own process over the one control-loop model.

It runs in the emulator's environment: standard library, the emulator, `headway.scaling` and `headway_ops.loop` only.
"""
