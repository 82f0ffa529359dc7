"""A recorded run, to be looked at round by round: components, monitors, messages on their way, growth, verdict."""
