"""Every fault that the worker must survive: a catalogue of them by name, and thousands at random."""
