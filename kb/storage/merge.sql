-- A generation made of the one before it ("before", attached) and of the patients in the staging tables: the others' rows
-- keep their order and get new numbers. One named statement a step; {table} is a name of ours.

-- name: placed
-- Every patient of the new generation with the new numbers and, where the rows come from before, the old ones.
CREATE TABLE staging.placed AS
SELECT row_number() OVER (ORDER BY patient_id) - 1 AS patient,
       patient_id,
       CAST(coalesce(sum(events) OVER (ORDER BY patient_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS BIGINT)
           AS first_event,
       events,
       digest,
       old_patient,
       old_first
FROM (
    SELECT patient_id, events, digest, patient AS old_patient, first_event AS old_first
    FROM before.patient ANTI JOIN staging.patient USING (patient_id)
    UNION ALL
    SELECT patient_id, events, digest, NULL, NULL FROM staging.patient
)
ORDER BY patient;

-- name: others
-- How many patients come from before.
SELECT count(*) FROM before.patient ANTI JOIN staging.patient USING (patient_id);

-- name: patient
INSERT INTO built.patient SELECT patient, patient_id, first_event, events, digest FROM staging.placed ORDER BY patient;

-- name: gone
-- The old numbers of the patients whose rows are not copied.
SELECT patient FROM before.patient SEMI JOIN staging.patient USING (patient_id) ORDER BY patient;

-- name: come
-- The new numbers of the patients whose rows come from the staging tables.
SELECT patient FROM staging.placed WHERE old_patient IS NULL ORDER BY patient;

-- name: changed_patient
-- Then the same patients by themselves, as far as the event index is made of them.
CREATE TABLE changed.patient AS
SELECT CAST(row_number() OVER (ORDER BY patient_id) - 1 AS INTEGER) AS patient,
       patient_id,
       CAST(coalesce(sum(events) OVER (ORDER BY patient_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS BIGINT)
           AS first_event,
       events
FROM staging.patient
ORDER BY patient;

-- name: changed_event
CREATE TABLE changed.event AS
SELECT p.first_event + s.ordinal AS event, p.patient, s.* EXCLUDE (patient_id, ordinal)
FROM staging.event AS s JOIN changed.patient AS p USING (patient_id)
ORDER BY event;

-- name: changed_event_attribute
CREATE TABLE changed.event_attribute AS
SELECT p.first_event + s.ordinal AS event, s.* EXCLUDE (patient_id, ordinal)
FROM staging.event_attribute AS s JOIN changed.patient AS p USING (patient_id)
ORDER BY event, s.position;

-- name: chunks
-- So many patients at a time: whether all come from before, their old and new numbers, and their events there.
SELECT count(old_patient) = count(*) AS plain,
       min(patient) AS low, max(patient) AS high,
       coalesce(min(old_patient), 0) AS old_low, coalesce(max(old_patient), -1) AS old_high,
       coalesce(min(old_first), 0) AS event_low,
       coalesce(max(old_first + events) FILTER (WHERE old_patient IS NOT NULL), 0) - 1 AS event_high,
       min(first_event) - coalesce(min(old_first), 0) AS event_shift
FROM staging.placed GROUP BY patient // $1 ORDER BY low;

-- name: plain_rows
INSERT INTO built.{table}
SELECT t.* REPLACE (CAST(t.patient + $3 AS INTEGER) AS patient)
FROM before.{table} AS t WHERE t.patient BETWEEN $1 AND $2;

-- name: plain_event
INSERT INTO built.event
SELECT t.* REPLACE (t.event + $4 AS event, CAST(t.patient + $3 AS INTEGER) AS patient)
FROM before.event AS t WHERE t.patient BETWEEN $1 AND $2;

-- name: plain_of_events
INSERT INTO built.{table}
SELECT t.* REPLACE (t.event + $3 AS event) FROM before.{table} AS t WHERE t.event BETWEEN $1 AND $2;

-- name: mixed_rows
INSERT INTO built.{table}
SELECT * FROM (
    SELECT CAST(p.patient AS INTEGER) AS patient, t.* EXCLUDE (patient)
    FROM before.{table} AS t JOIN staging.placed AS p ON t.patient = p.old_patient
    WHERE t.patient BETWEEN $1 AND $2
    UNION ALL BY NAME
    SELECT CAST(p.patient AS INTEGER) AS patient, s.* EXCLUDE (patient_id)
    FROM staging.{table} AS s JOIN staging.placed AS p USING (patient_id)
    WHERE p.patient BETWEEN $3 AND $4
)
ORDER BY {order};

-- name: mixed_event
INSERT INTO built.event
SELECT * FROM (
    SELECT p.first_event + t.event - p.old_first AS event, CAST(p.patient AS INTEGER) AS patient,
           t.* EXCLUDE (event, patient)
    FROM before.event AS t JOIN staging.placed AS p ON t.patient = p.old_patient
    WHERE t.patient BETWEEN $1 AND $2
    UNION ALL BY NAME
    SELECT p.first_event + s.ordinal AS event, CAST(p.patient AS INTEGER) AS patient,
           s.* EXCLUDE (patient_id, ordinal)
    FROM staging.event AS s JOIN staging.placed AS p USING (patient_id)
    WHERE p.patient BETWEEN $3 AND $4
)
ORDER BY event;

-- name: mixed_of_events
INSERT INTO built.{table}
SELECT * FROM (
    SELECT p.first_event + t.event - p.old_first AS event, t.* EXCLUDE (event)
    FROM before.{table} AS t
    JOIN (SELECT event, patient FROM before.event WHERE event BETWEEN $1 AND $2) AS e USING (event)
    JOIN staging.placed AS p ON e.patient = p.old_patient
    WHERE t.event BETWEEN $1 AND $2
    UNION ALL BY NAME
    SELECT p.first_event + s.ordinal AS event, s.* EXCLUDE (patient_id, ordinal)
    FROM staging.{table} AS s JOIN staging.placed AS p USING (patient_id)
    WHERE p.patient BETWEEN $3 AND $4
)
ORDER BY event, position;
