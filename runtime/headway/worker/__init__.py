"""The worker: Celery on SQS, one process a lane, that never loses, repeats or gives up long work."""
