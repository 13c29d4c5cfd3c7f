"""The hosted model's stand-in: the same HTTP API, a quota, its latencies, and answers read from the image itself."""
