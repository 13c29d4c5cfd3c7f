"""In which order is a stage promoted? The one list that the pipeline, its twin and the commands share."""

#: A stage's stacks by their short names, each after everything that it needs.
STACKS = ("network", "queues", "jobstore", "consumer", "producer")
