"""A burst of drawings whose truth is known, sent through a whole stage and checked against it."""
