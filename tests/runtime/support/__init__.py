"""What the runtime's tests stand on: a real queue, bucket and database, and servers that play ECS and the model."""
