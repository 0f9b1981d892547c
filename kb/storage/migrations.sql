-- What brings a copy of the database of a generation from one schema version to the next, in place. One name a step.
-- The version itself is written when all steps are done.

-- name: from_1_to_2
-- Who is listed stands in the index, which is built after the steps; how many they are is filled in anew with it.
DELETE FROM posting;
ALTER TABLE posting DROP COLUMN patients;

-- name: from_2_to_3
-- The tables stay: digests stand beside them, and are written when the generation is published.
SELECT 'nothing to change';
