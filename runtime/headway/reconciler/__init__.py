"""The watchdog over jobs: ends the silent ones, sends lost messages again, and fails what ended among dead letters."""
