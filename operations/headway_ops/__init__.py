"""What people run: the command line, the local stage, and the control-loop model they share."""
