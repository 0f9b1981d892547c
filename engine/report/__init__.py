"""An answer on one page: what was asked, how many, the effect of each criterion, and each member with the evidence."""
