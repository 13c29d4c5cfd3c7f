"""The whole stage on a laptop: no AWS account, no Docker. The same template, real workers, real PostgreSQL."""
