-- Telling note versions apart: what came in against what the knowledge base holds. One named statement a question.

-- name: create_version
-- status: of what was held before, that of its row; 'retraction' of a record that voids its note, whose note_id is ''.
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
    status VARCHAR,
    superseded_by VARCHAR
);

-- name: create_held
CREATE TABLE held (patient_id VARCHAR NOT NULL, doc_id VARCHAR NOT NULL, note_id VARCHAR NOT NULL);

-- name: add_held
-- A document of which no version is current has the note_id ''.
INSERT INTO held
SELECT patient_id, doc_id, coalesce(max(note_id) FILTER (WHERE status = 'current'), '') FROM arriving GROUP BY ALL;

-- name: add_incoming
INSERT INTO version BY NAME SELECT * FROM arriving;

-- name: affected
-- Patients of whom some record is not the very version that is held. A document that is not known is as one that is void.
SELECT DISTINCT v.patient_id
FROM version AS v LEFT JOIN held AS h USING (patient_id, doc_id)
WHERE coalesce(h.note_id, '') <> v.note_id
ORDER BY 1;

-- name: everyone
SELECT DISTINCT patient_id FROM version UNION SELECT DISTINCT patient_id FROM held ORDER BY 1;

-- name: unchanged
-- Records of patients who are not read again.
SELECT count(*) FROM version WHERE patient_id NOT IN (SELECT patient_id FROM arriving);

-- name: add_earlier
-- Versions that were held before come before all that arrive: the superseded and retracted ones, then the current ones.
INSERT INTO version
SELECT patient_id, CASE status WHEN 'current' THEN -1 ELSE -2 END, note_id, doc_id, date, type, title, text,
       NULL, NULL, status, superseded_by
FROM arriving;

-- name: notes
SELECT v.* FROM version AS v WHERE patient_id IN (SELECT patient_id FROM arriving)
ORDER BY patient_id, position, doc_id, note_id;

-- name: volume
SELECT count(*) FROM version WHERE source IS NOT NULL AND patient_id IN (SELECT patient_id FROM arriving);
