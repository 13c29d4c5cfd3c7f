"""The stacks of a stage: each wires constructs from the stage's settings, and builds nothing itself."""
