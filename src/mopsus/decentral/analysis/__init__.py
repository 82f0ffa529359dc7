"""What can be said of a decentralized specification before it runs."""
