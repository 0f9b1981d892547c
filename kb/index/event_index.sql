-- What the event index is made of. Tables whose names begin with index_ are temporary; {tables} is a schema of ours.

-- name: concepts_of_kinds
SELECT kind, concept, count(*) AS events, count(end_low) AS ends FROM {tables}.event GROUP BY ALL;

-- name: contexts
SELECT DISTINCT polarity, temporality, experiencer, reason FROM {tables}.event ORDER BY ALL;

-- name: spans
SELECT DISTINCT high - low FROM {tables}.event ORDER BY 1;

-- name: bounds
SELECT count(*), coalesce(min(low), 0), coalesce(max(low), 0), coalesce(min(end_low), 0), coalesce(max(end_high), 0)
FROM {tables}.event;

-- name: patients
SELECT count(*), coalesce(max(events), 0) FROM {tables}.patient;

-- name: first_events
SELECT patient, first_event FROM {tables}.patient ORDER BY patient;

-- name: make_tumors
CREATE OR REPLACE TEMP TABLE index_tumor AS
SELECT patient, tumor, world, row_number() OVER (PARTITION BY patient ORDER BY tumor) - 1 AS ordinal
FROM (
    SELECT patient, tumor, max(world) AS world FROM {tables}.event
    WHERE tumor NOT IN ('', '*') AND world > 0 GROUP BY patient, tumor
)
ORDER BY patient, ordinal;

-- name: tumor_bounds
SELECT count(*), coalesce(max(ordinal), 0) FROM index_tumor;

-- name: tumors
SELECT patient, world FROM index_tumor ORDER BY patient, ordinal;

-- Of some patients, whose numbers and whose events' numbers lie between these: rows are stored in this order.
-- name: events
SELECT e.event AS event, e.patient AS patient, s.slice AS slice, e.low AS low, e.high - e.low AS span,
    e.world AS world, c.context AS context,
    CAST(CASE e.tumor WHEN '' THEN -1 WHEN '*' THEN -2 ELSE coalesce(t.ordinal, -3) END AS INTEGER) AS tumor,
    e.end_low AS end_low, e.end_high AS end_high
FROM {tables}.event AS e
JOIN index_slice AS s ON s.kind = e.kind AND s.concept = e.concept
JOIN index_context AS c ON c.polarity = e.polarity AND c.temporality = e.temporality
    AND c.experiencer = e.experiencer AND c.reason = e.reason
LEFT JOIN index_tumor AS t ON t.patient = e.patient AND t.tumor = e.tumor AND t.patient BETWEEN $1 AND $2
WHERE e.event BETWEEN $3 AND $4
ORDER BY e.event;

-- name: make_values
CREATE OR REPLACE TEMP TABLE index_value AS
SELECT name, text, number, row_number() OVER (PARTITION BY name ORDER BY text NULLS LAST, number) - 1 AS value
FROM (
    SELECT DISTINCT name, text, CASE WHEN text IS NULL THEN number + 0.0 END AS number
    FROM {tables}.event_attribute
    WHERE text <> '' OR (text IS NULL AND number IS NOT NULL)
);

-- name: names
SELECT DISTINCT name FROM index_value ORDER BY name;

-- name: values
SELECT text, number FROM index_value WHERE name = $1 ORDER BY value;

-- name: attributes
SELECT a.event AS event, n.position AS name, CAST(v.value AS INTEGER) AS value
FROM {tables}.event_attribute AS a
JOIN index_value AS v ON v.name = a.name
    AND v.text IS NOT DISTINCT FROM a.text AND v.number IS NOT DISTINCT FROM CASE WHEN a.text IS NULL THEN a.number END
JOIN index_name AS n ON n.name = a.name;
