"""Clinical abstractions: facts that people wrote down about patients, made into the same journeys as notes."""
