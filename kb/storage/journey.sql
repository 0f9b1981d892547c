-- One patient's rows, each table with the columns that a journey is made of: every column more is one more block of the
-- file to read.

-- name: events
SELECT event, kind, concept, low, high, end_low, end_high, polarity, temporality, experiencer, reason, world, tumor,
    tumor_rule, sources, anchors, confidence
FROM event WHERE patient = $1 ORDER BY event;

-- name: attributes
SELECT event, name, text, number, form FROM event_attribute WHERE event BETWEEN $1 AND $2 ORDER BY event, position;

-- name: evidence
SELECT event, mention_id FROM evidence WHERE event BETWEEN $1 AND $2 ORDER BY event, position;

-- name: notes
SELECT doc_id, date, type, title, text FROM note WHERE patient = $1 AND status = 'current' ORDER BY ordinal;

-- name: mentions
SELECT * EXCLUDE (patient, mention_id) FROM mention WHERE patient = $1 ORDER BY ordinal;

-- name: relations
SELECT note_id, type, head, tail, rule FROM relation WHERE patient = $1 ORDER BY ordinal;

-- name: decisions
SELECT rule, believed, rejected, explanation FROM decision WHERE patient = $1 ORDER BY ordinal;
