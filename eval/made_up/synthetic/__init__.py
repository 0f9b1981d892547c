"""A made-up corpus: clinical courses are simulated, told in notes of many styles, with the gold facts of each note."""
