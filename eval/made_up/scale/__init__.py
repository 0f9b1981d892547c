"""Knowledge bases of made-up patients, of any size, to measure on: none of their people ever lived."""
