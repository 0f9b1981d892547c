"""The reasons why a patient is no member: the failing criterion and the cheapest edit that admits."""
