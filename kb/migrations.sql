-- What brings a copy of the database of a generation from one schema version to the next, in place. One name a step.
-- The version itself is written when all steps are done.

-- name: from_1_to_2
-- The tables stay as they are: the index beside them is new.
SELECT 1;
