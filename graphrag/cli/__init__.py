"""The command line, a file for each group of commands; it starts in main.py."""
