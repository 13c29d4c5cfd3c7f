"""What must a role be allowed to do on a lane's queues? The constructs grant it, and the doctor asks IAM for it.

It is what Kombu 5.7 calls with predefined queues, and nothing else (kombu/transport/SQS/__init__.py).
"""

#: On its lane a consumer reads, deletes, extends or hands back, and reads the redrive policy before it rejects.
CONSUME = ("sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:ChangeMessageVisibility", "sqs:GetQueueAttributes")
#: A producer looks a lane up and sends to it.
SEND = ("sqs:SendMessage", "sqs:GetQueueAttributes")
#: Whoever counts a lane's messages takes none.
COUNT = ("sqs:GetQueueAttributes",)
#: Among the dead letters a worker puts what can never run, and the reconciler looks without the right to delete.
BURY = ("sqs:SendMessage",)
LOOK = ("sqs:ReceiveMessage",)
#: What takes messages out: nobody may, but a lane's own workers.
TAKE = ("sqs:ReceiveMessage", "sqs:DeleteMessage")
