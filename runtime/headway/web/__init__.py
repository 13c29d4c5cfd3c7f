"""The producer's web service: an API to submit, watch and cancel jobs, and a page that does the same for people."""
