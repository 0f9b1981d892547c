-- From the tables of a generation back to staging rows, for the patients in "wanted" (patient_id). One statement a table.

-- name: patient
SELECT patient_id, events, digest FROM patient WHERE patient_id IN (SELECT patient_id FROM wanted);

-- name: note
SELECT p.patient_id, t.* EXCLUDE (patient)
FROM note AS t JOIN patient AS p USING (patient) WHERE p.patient_id IN (SELECT patient_id FROM wanted);

-- name: mention
SELECT p.patient_id, t.* EXCLUDE (patient)
FROM mention AS t JOIN patient AS p USING (patient) WHERE p.patient_id IN (SELECT patient_id FROM wanted);

-- name: relation
SELECT p.patient_id, t.* EXCLUDE (patient)
FROM relation AS t JOIN patient AS p USING (patient) WHERE p.patient_id IN (SELECT patient_id FROM wanted);

-- name: event
SELECT p.patient_id, CAST(t.event - p.first_event AS INTEGER) AS ordinal, t.* EXCLUDE (event, patient)
FROM event AS t JOIN patient AS p USING (patient) WHERE p.patient_id IN (SELECT patient_id FROM wanted);

-- name: event_attribute
SELECT p.patient_id, CAST(t.event - p.first_event AS INTEGER) AS ordinal, t.* EXCLUDE (event)
FROM event_attribute AS t JOIN event AS e USING (event) JOIN patient AS p USING (patient)
WHERE p.patient_id IN (SELECT patient_id FROM wanted);

-- name: evidence
SELECT p.patient_id, CAST(t.event - p.first_event AS INTEGER) AS ordinal, t.* EXCLUDE (event)
FROM evidence AS t JOIN event AS e USING (event) JOIN patient AS p USING (patient)
WHERE p.patient_id IN (SELECT patient_id FROM wanted);

-- name: decision
SELECT p.patient_id, t.* EXCLUDE (patient)
FROM decision AS t JOIN patient AS p USING (patient) WHERE p.patient_id IN (SELECT patient_id FROM wanted);

-- name: superseded_before
SELECT p.patient_id, t.* EXCLUDE (patient)
FROM note AS t JOIN patient AS p USING (patient)
WHERE t.status <> 'current' AND p.patient_id IN (SELECT patient_id FROM wanted);

-- name: current_before
SELECT p.patient_id, t.* EXCLUDE (patient)
FROM note AS t JOIN patient AS p USING (patient)
WHERE t.status = 'current' AND p.patient_id IN (SELECT patient_id FROM wanted);

-- name: quarantine
SELECT * FROM quarantine;
