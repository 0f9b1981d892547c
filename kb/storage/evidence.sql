-- How events are known. The events asked about are the table wanted_events; $1 and $2 are the least and the greatest of
-- them, $3 and $4 the patients of these two: rows are stored in that order, and no others are read.

-- name: patients_between
SELECT min(patient), max(patient) FROM event WHERE event IN ($1, $2);

-- name: of_sources
SELECT event FROM event SEMI JOIN wanted_events USING (event) WHERE event BETWEEN $1 AND $2 AND sources >= $3;

-- name: disputed
SELECT DISTINCT event
FROM (SELECT patient, event, event_id FROM event SEMI JOIN wanted_events USING (event) WHERE event BETWEEN $1 AND $2)
JOIN (SELECT patient, unnest(believed || rejected) AS event_id FROM decision WHERE patient BETWEEN $3 AND $4)
    USING (patient, event_id);

-- name: noted_in
-- Joined to the left, from the few events on, although an event that no note tells is of no use: in another order, which
-- the database would choose for plain joins, all mentions of these patients are gone through by their ids.
SELECT DISTINCT wanted.event AS event, note.type AS type, note.title AS title, mention.section AS section
FROM (SELECT patient, event FROM event SEMI JOIN wanted_events USING (event) WHERE event BETWEEN $1 AND $2) AS wanted
LEFT JOIN (SELECT event, mention_id FROM evidence WHERE event BETWEEN $1 AND $2) AS evidence
    ON evidence.event = wanted.event
LEFT JOIN (SELECT patient, mention_id, note_id, section FROM mention WHERE patient BETWEEN $3 AND $4) AS mention
    ON mention.patient = wanted.patient AND mention.mention_id = evidence.mention_id
LEFT JOIN (SELECT patient, note_id, type, title FROM note WHERE patient BETWEEN $3 AND $4 AND status = 'current') AS note
    ON note.patient = wanted.patient AND note.note_id = mention.note_id;

-- name: observations
SELECT patient, date - DATE '0001-01-01' + 1 AS day, type, title
FROM note SEMI JOIN wanted_patients USING (patient)
WHERE patient BETWEEN $1 AND $2 AND status = 'current'
ORDER BY patient;
