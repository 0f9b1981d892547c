-- Telling note versions apart: what came in against what the knowledge base holds. One named statement a question.

-- name: create_version
CREATE TABLE version (
    patient_id VARCHAR NOT NULL,
    position BIGINT NOT NULL,
    note_id VARCHAR NOT NULL,
    doc_id VARCHAR NOT NULL,
    date DATE,
    type VARCHAR NOT NULL,
    title VARCHAR NOT NULL,
    text VARCHAR NOT NULL,
    source VARCHAR,
    place VARCHAR,
    superseded_by VARCHAR
);

-- name: create_held
CREATE TABLE held (patient_id VARCHAR NOT NULL, doc_id VARCHAR NOT NULL, note_id VARCHAR NOT NULL);

-- name: add_held
INSERT INTO held SELECT patient_id, doc_id, note_id FROM arriving WHERE status = 'current';

-- name: add_incoming
INSERT INTO version BY NAME SELECT * FROM arriving;

-- name: affected
-- Patients of whom some record is not the very version that is held.
SELECT DISTINCT v.patient_id
FROM version AS v LEFT JOIN held AS h USING (patient_id, doc_id)
WHERE h.note_id IS DISTINCT FROM v.note_id
ORDER BY 1;

-- name: everyone
SELECT DISTINCT patient_id FROM version UNION SELECT DISTINCT patient_id FROM held ORDER BY 1;

-- name: unchanged
-- Records of patients who are not read again.
SELECT count(*) FROM version WHERE patient_id NOT IN (SELECT patient_id FROM arriving);

-- name: add_earlier
-- Versions that were held before come before all that arrive: the superseded ones, then the current ones.
INSERT INTO version
SELECT patient_id, CASE status WHEN 'superseded' THEN -2 ELSE -1 END, note_id, doc_id, date, type, title, text,
       NULL, NULL, superseded_by
FROM arriving;

-- name: notes
SELECT v.* FROM version AS v WHERE patient_id IN (SELECT patient_id FROM arriving)
ORDER BY patient_id, position, doc_id, note_id;

-- name: volume
SELECT count(*) FROM version WHERE source IS NOT NULL AND patient_id IN (SELECT patient_id FROM arriving);
