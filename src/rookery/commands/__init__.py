"""The commands of `rookery`, one module each; `rookery/cli.py` tells how to add one."""
