-- The attribute values of events, counted part by part, and which of them have lists of their own (value_lists.toml).

-- name: counts
CREATE OR REPLACE TEMP TABLE value_count (kind VARCHAR, name VARCHAR, text VARCHAR, number DOUBLE, found BIGINT);

-- name: count_part
INSERT INTO value_count
SELECT kind, name, text, CASE WHEN text IS NULL THEN number END AS number, count(*)
FROM attributes JOIN events USING (event)
WHERE text <> '' OR (text IS NULL AND number IS NOT NULL)
GROUP BY ALL;

-- name: ranked
-- The commonest first, texts before numbers; no more of an attribute than are listed, or told by name, and one.
CREATE OR REPLACE TEMP TABLE ranked_value AS
SELECT * FROM (
    SELECT kind, name, text, number,
        row_number() OVER (PARTITION BY kind, name ORDER BY found DESC, text IS NULL, text, number) - 1 AS place,
        found, sum(found) OVER (PARTITION BY kind, name) AS all_found
    FROM (SELECT kind, name, text, number, sum(found) AS found FROM value_count GROUP BY ALL)
)
WHERE place <= $1;

-- name: values
SELECT kind, name, text, number, found, all_found FROM ranked_value ORDER BY kind, name, place;

-- name: patients
-- Of the listed attributes: those of each listed value (less than $2) by its place, those of all others together ($1).
SELECT kind, name, value, concept, world, list(patient) AS patients
FROM (
    SELECT DISTINCT e.kind AS kind, a.name AS name, coalesce(v.place, $1) AS value, e.concept AS concept,
        e.world AS world, e.patient AS patient
    FROM attributes AS a JOIN events AS e USING (event)
    SEMI JOIN listed_attribute AS l ON l.kind = e.kind AND l.name = a.name
    LEFT JOIN ranked_value AS v ON v.kind = e.kind AND v.name = a.name AND v.place < $2
        AND v.text IS NOT DISTINCT FROM a.text
        AND v.number IS NOT DISTINCT FROM CASE WHEN a.text IS NULL THEN a.number END
    WHERE a.text <> '' OR (a.text IS NULL AND a.number IS NOT NULL)
)
GROUP BY ALL;
