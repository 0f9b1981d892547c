-- The rows of the patients from getvariable('low') to getvariable('high'), and of their events: what a rule looks at.
-- The bounds are constants when a statement is planned, so that only the blocks are read in which such rows lie.

-- name: patients
CREATE VIEW patients AS FROM built.patient
WHERE patient BETWEEN getvariable('low') AND getvariable('high');

-- name: notes
CREATE VIEW notes AS FROM built.note
WHERE patient BETWEEN getvariable('low') AND getvariable('high');

-- name: mentions
CREATE VIEW mentions AS FROM built.mention
WHERE patient BETWEEN getvariable('low') AND getvariable('high');

-- name: relations
CREATE VIEW relations AS FROM built.relation
WHERE patient BETWEEN getvariable('low') AND getvariable('high');

-- name: events
CREATE VIEW events AS FROM built.event
WHERE patient BETWEEN getvariable('low') AND getvariable('high');

-- name: attributes
CREATE VIEW attributes AS FROM built.event_attribute
WHERE event BETWEEN getvariable('first_event') AND getvariable('last_event');

-- name: evidence_rows
CREATE VIEW evidence_rows AS FROM built.evidence
WHERE event BETWEEN getvariable('first_event') AND getvariable('last_event');

-- name: decisions
CREATE VIEW decisions AS FROM built.decision
WHERE patient BETWEEN getvariable('low') AND getvariable('high');
