"""What is measured of a run: by the core as it goes, and by whoever listens at the named points of a run."""
