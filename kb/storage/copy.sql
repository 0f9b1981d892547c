-- From the tables of a generation back to staging rows, for the patients in "wanted" (patient_id).

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
