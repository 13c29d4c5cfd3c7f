"""The worker: policies alone, and the real process on the emulator's SQS."""
