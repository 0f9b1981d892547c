-- From the staging tables (patient_id and ordinals) to the tables of schema.sql (dense numbers), in their final order.
-- One statement a table; the name says which.

-- name: patient
INSERT INTO built.patient
SELECT row_number() OVER (ORDER BY patient_id) - 1,
       patient_id,
       coalesce(sum(events) OVER (ORDER BY patient_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0),
       events,
       digest
FROM staging.patient
ORDER BY patient_id;

-- name: note
INSERT INTO built.note
SELECT p.patient, s.* EXCLUDE (patient_id)
FROM staging.note AS s JOIN built.patient AS p USING (patient_id)
ORDER BY p.patient, s.status <> 'current', s.ordinal, s.note_id;

-- name: mention
INSERT INTO built.mention
SELECT p.patient, s.* EXCLUDE (patient_id)
FROM staging.mention AS s JOIN built.patient AS p USING (patient_id)
ORDER BY p.patient, s.ordinal;

-- name: relation
INSERT INTO built.relation
SELECT p.patient, s.* EXCLUDE (patient_id)
FROM staging.relation AS s JOIN built.patient AS p USING (patient_id)
ORDER BY p.patient, s.ordinal;

-- name: event
INSERT INTO built.event
SELECT p.first_event + s.ordinal AS event, p.patient, s.* EXCLUDE (patient_id, ordinal)
FROM staging.event AS s JOIN built.patient AS p USING (patient_id)
ORDER BY event;

-- name: event_attribute
INSERT INTO built.event_attribute
SELECT p.first_event + s.ordinal AS event, s.* EXCLUDE (patient_id, ordinal)
FROM staging.event_attribute AS s JOIN built.patient AS p USING (patient_id)
ORDER BY event, s.position;

-- name: evidence
INSERT INTO built.evidence
SELECT p.first_event + s.ordinal AS event, s.* EXCLUDE (patient_id, ordinal)
FROM staging.evidence AS s JOIN built.patient AS p USING (patient_id)
ORDER BY event, s.position;

-- name: decision
INSERT INTO built.decision
SELECT p.patient, s.* EXCLUDE (patient_id)
FROM staging.decision AS s JOIN built.patient AS p USING (patient_id)
ORDER BY p.patient, s.ordinal;

-- name: quarantine
INSERT INTO built.quarantine
SELECT DISTINCT * FROM staging.quarantine
ORDER BY ALL;
