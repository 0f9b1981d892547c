"""The commands of answering: a thin skin over the Python API, one file a purpose, with the options they share."""
