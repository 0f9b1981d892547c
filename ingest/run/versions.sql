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
    superseded_by VARCHAR,
    unnamed BOOLEAN,
    reading BIGINT,
    written_patient VARCHAR,
    written_document VARCHAR,
    patient_space VARCHAR,
    doc_space VARCHAR
);

-- name: create_held
-- The documents that the knowledge base ("before", attached) holds of the patients who come: the version that is
-- current, '' where none is.
CREATE VIEW held AS
SELECT p.patient_id, n.doc_id, coalesce(max(n.note_id) FILTER (WHERE n.status = 'current'), '') AS note_id
FROM before.note AS n JOIN before.patient AS p USING (patient)
WHERE p.patient_id IN (SELECT patient_id FROM version)
GROUP BY ALL;

-- name: add_incoming
INSERT INTO version BY NAME SELECT * FROM arriving;

-- name: repeats
-- Documents without an id, of which some file has several equal ones: where one stands, and how many a file has at most.
SELECT min(position), max(times)::BIGINT FROM (
    SELECT patient_id, doc_id, min(position) AS position, count(*) AS times FROM version WHERE unnamed
    GROUP BY patient_id, doc_id, reading
)
GROUP BY patient_id, doc_id HAVING max(times) > 1 ORDER BY 1;

-- name: at
SELECT patient_id, doc_id, text, date, type, title FROM version WHERE position = $1;

-- name: number_repeats
UPDATE version SET doc_id = numbered_doc_id, note_id = numbered_note_id
FROM (
    SELECT position AS own, numbered_doc_id, numbered_note_id
    FROM (
        SELECT position, patient_id, doc_id, row_number() OVER (PARTITION BY patient_id, doc_id, reading ORDER BY position) AS number
        FROM version WHERE unnamed
    )
    JOIN arriving USING (patient_id, doc_id, number)
)
WHERE position = own;

-- name: ids
-- Notes without a document id; ids written with outer blanks, where the first of them stands; how many patients, and how
-- many documents with several contents, several spellings (or spaces) of an id were taken for one.
SELECT
    (SELECT count(*) FROM version WHERE unnamed),
    (SELECT count(*) FROM version WHERE written_patient <> '' OR written_document <> ''),
    (SELECT min_by(source || ', ' || place, position) FROM version WHERE written_patient <> '' OR written_document <> ''),
    (SELECT count(*) FROM (SELECT patient_id FROM version GROUP BY ALL HAVING count(DISTINCT written_patient) > 1)),
    (
        SELECT count(*) FROM (
            SELECT patient_id, doc_id FROM version GROUP BY ALL
            HAVING count(DISTINCT written_document || chr(31) || doc_space) > 1 AND count(DISTINCT note_id) > 1
        )
    );

-- name: of_several_servers
SELECT patient_id FROM version WHERE patient_space <> ''
GROUP BY patient_id HAVING count(DISTINCT patient_space) > 1 ORDER BY 1;

-- name: affected
-- Patients of whom some record is not the very version that is held. A document that is not known is as one that is void.
SELECT DISTINCT v.patient_id
FROM version AS v LEFT JOIN held AS h USING (patient_id, doc_id)
WHERE coalesce(h.note_id, '') <> v.note_id
ORDER BY 1;

-- name: everyone
SELECT DISTINCT patient_id FROM version UNION SELECT patient_id FROM before.patient ORDER BY 1;

-- name: unchanged
-- Records of patients who are not read again.
SELECT count(*) FROM version WHERE patient_id NOT IN (SELECT patient_id FROM arriving);

-- name: add_earlier
-- Versions that were held before come before all that arrive: the superseded and retracted ones, then the current ones.
INSERT INTO version
    (patient_id, position, note_id, doc_id, date, type, title, text, source, place, status, superseded_by)
SELECT p.patient_id, CASE n.status WHEN 'current' THEN -1 ELSE -2 END, n.note_id, n.doc_id, n.date, n.type, n.title, n.text,
       NULL, NULL, n.status, n.superseded_by
FROM before.note AS n JOIN before.patient AS p USING (patient)
WHERE p.patient_id IN (SELECT patient_id FROM arriving);

-- name: notes
SELECT v.* FROM version AS v WHERE patient_id IN (SELECT patient_id FROM arriving)
ORDER BY patient_id, position, doc_id, note_id;

-- name: crowded
-- Those of the patients who have more than so many versions of notes, held and arriving.
SELECT patient_id FROM (
    SELECT patient_id FROM version
    UNION ALL SELECT p.patient_id FROM before.note JOIN before.patient AS p USING (patient)
)
WHERE patient_id IN (SELECT patient_id FROM arriving)
GROUP BY patient_id HAVING count(*) > $most;

-- name: records
SELECT source, place, patient_id, doc_id, text FROM version
WHERE source IS NOT NULL AND patient_id IN (SELECT patient_id FROM arriving) ORDER BY patient_id, position;

-- name: volume
SELECT count(*) FROM version WHERE source IS NOT NULL AND patient_id IN (SELECT patient_id FROM arriving);
