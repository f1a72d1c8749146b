"""One module per command, with the function of its name."""
