"""`rookery report`: one self-contained page about any set of runs."""
