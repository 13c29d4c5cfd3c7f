"""What a worker costs beside plain Celery with the same pool, in one run."""

NOTE = "bench.note"
#: The variables that say where a task notes its message's pickup, and which of the two apps this is.
FILE, KIND = "BENCH_FILE", "BENCH_KIND"
