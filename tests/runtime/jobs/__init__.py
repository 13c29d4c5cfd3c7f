"""The job store on real PostgreSQL."""
