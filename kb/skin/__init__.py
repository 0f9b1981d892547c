"""The skin that people see on a terminal: tables, errors, progress."""
