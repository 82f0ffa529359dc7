"""What came of an experiment, for people: tables, plots and a page of both."""
