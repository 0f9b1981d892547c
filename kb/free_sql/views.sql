-- The views of free SQL, in the order of the documentation (docs/guide/sql.md): one SELECT each over the tables of the
-- knowledge base, which is attached as "kb". Days are DATEs; where a record sets no bound they are NULL.
-- 693596 and 803168 are the ordinals of EARLIEST_DAY and LATEST_DAY (kb/model.py); a test holds them together.

-- name: patients
SELECT
    patient_id,
    (SELECT count(*) FROM kb.main.note AS n WHERE n.patient = p.patient AND n.status = 'current') AS notes,
    events
FROM kb.main.patient AS p

-- name: notes
SELECT
    patient_id,
    note_id,
    doc_id,
    date,
    type,
    title,
    length(text) AS characters,
    sha256,
    status,
    superseded_by
FROM kb.main.note
JOIN kb.main.patient USING (patient)

-- name: note_texts
SELECT patient_id, note_id, text
FROM kb.main.note
JOIN kb.main.patient USING (patient)

-- name: mentions
SELECT
    patient_id,
    mention_id,
    note_id,
    span_start,
    span_end,
    m.text AS surface,
    m.kind,
    label,
    concept,
    c.name,
    CAST(CAST(m.attributes AS JSON) AS MAP(VARCHAR, VARCHAR)) AS attributes,
    polarity,
    temporality,
    experiencer,
    reason,
    CASE WHEN low > 693596 THEN DATE '0001-01-01' + (low - 1) END AS earliest,
    CASE WHEN high < 803168 THEN DATE '0001-01-01' + (high - 1) END AS latest,
    section,
    sentence_start,
    sentence_end,
    m.source AS rule,
    confidence
FROM kb.main.mention AS m
JOIN kb.main.patient USING (patient)
LEFT JOIN kb.main.concept AS c USING (concept)

-- name: relations
SELECT patient_id, note_id, type, head, tail, rule
FROM kb.main.relation
JOIN kb.main.patient USING (patient)

-- name: events
SELECT
    patient_id,
    event_id,
    e.kind,
    concept,
    c.name,
    CASE
        WHEN low > 693596 AND high < 803168
        THEN DATE '0001-01-01' + (CAST(floor((low + high) / 2) AS INTEGER) - 1)
    END AS day,
    CASE WHEN low > 693596 THEN DATE '0001-01-01' + (low - 1) END AS earliest,
    CASE WHEN high < 803168 THEN DATE '0001-01-01' + (high - 1) END AS latest,
    CASE WHEN end_low > 693596 THEN DATE '0001-01-01' + (end_low - 1) END AS end_earliest,
    CASE WHEN end_high < 803168 THEN DATE '0001-01-01' + (end_high - 1) END AS end_latest,
    CASE
        WHEN temporality IN ('hypothetical', 'planned') THEN temporality
        WHEN polarity <> 'present' THEN polarity
        WHEN temporality = 'historical' THEN 'historical'
        ELSE 'present'
    END AS assertion,
    polarity,
    temporality,
    experiencer,
    reason,
    CASE world WHEN 3 THEN 'certain' WHEN 2 THEN 'believed' WHEN 1 THEN 'possible' ELSE 'none' END AS world,
    tumor,
    tumor_rule,
    sources,
    confidence
FROM kb.main.event AS e
JOIN kb.main.patient AS p USING (patient)
LEFT JOIN kb.main.concept AS c USING (concept)

-- name: event_attributes
SELECT
    patient_id,
    event_id,
    e.kind,
    a.name,
    coalesce(a.text, regexp_replace(CAST(a.number AS VARCHAR), '[.]0$', '')) AS value,
    a.number,
    c.name AS value_name
FROM kb.main.event_attribute AS a
JOIN kb.main.event AS e USING (event)
JOIN kb.main.patient USING (patient)
LEFT JOIN kb.main.concept AS c ON c.concept = a.text

-- name: evidence
SELECT patient_id, event_id, position, mention_id
FROM kb.main.evidence
JOIN kb.main.event USING (event)
JOIN kb.main.patient USING (patient)

-- name: decisions
SELECT patient_id, decision_id, rule, explanation
FROM kb.main.decision
JOIN kb.main.patient USING (patient)

-- name: decision_events
SELECT patient_id, decision_id, 'believed' AS role, unnest(believed) AS event_id
FROM kb.main.decision
JOIN kb.main.patient USING (patient)
UNION ALL
SELECT patient_id, decision_id, 'rejected' AS role, unnest(rejected) AS event_id
FROM kb.main.decision
JOIN kb.main.patient USING (patient)

-- name: concepts
SELECT concept, kind, name, site, source
FROM kb.main.concept

-- name: concept_names
SELECT concept, 'name' AS role, name
FROM kb.main.concept
UNION ALL
SELECT concept, role, name
FROM kb.main.concept_name

-- name: concept_edges
SELECT edge_id, child, parent
FROM kb.main.concept_edge

-- name: concept_closure
WITH RECURSIVE closure(ancestor, descendant) AS (
    SELECT concept, concept FROM kb.main.concept
    UNION
    SELECT closure.ancestor, edge.child
    FROM closure
    JOIN kb.main.concept_edge AS edge ON edge.parent = closure.descendant
)
SELECT ancestor, descendant FROM closure

-- name: value_sets
SELECT name, unnest(members) AS concept
FROM kb.main.value_set

-- name: quarantine
SELECT source, place, patient_id, doc_id, reason
FROM kb.main.quarantine

-- name: manifest
SELECT name, value
FROM kb.main.manifest
