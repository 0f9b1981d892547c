-- The tables of one generation. Rows are ordered by patient, so that one patient's rows lie together.
-- patient is the dense number: the position of patient_id among the sorted ids. event numbers a patient's events
-- consecutively (patient.first_event + ordinal). ordinal is the position within the journey.

CREATE TABLE manifest (name VARCHAR NOT NULL, value VARCHAR NOT NULL);

CREATE TABLE patient (
    patient INTEGER NOT NULL,
    patient_id VARCHAR NOT NULL,
    first_event BIGINT NOT NULL,
    events INTEGER NOT NULL,
    digest VARCHAR NOT NULL
);

CREATE TABLE note (
    patient INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    note_id VARCHAR NOT NULL,
    doc_id VARCHAR NOT NULL,
    date DATE,
    type VARCHAR NOT NULL,
    title VARCHAR NOT NULL,
    text VARCHAR NOT NULL,
    sha256 VARCHAR NOT NULL,
    status VARCHAR NOT NULL,
    superseded_by VARCHAR
);

CREATE TABLE mention (
    patient INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    mention_id VARCHAR NOT NULL,
    note_id VARCHAR NOT NULL,
    span_start INTEGER NOT NULL,
    span_end INTEGER NOT NULL,
    text VARCHAR NOT NULL,
    kind VARCHAR NOT NULL,
    label VARCHAR NOT NULL,
    concept VARCHAR NOT NULL,
    attributes VARCHAR NOT NULL,
    polarity VARCHAR NOT NULL,
    temporality VARCHAR NOT NULL,
    experiencer VARCHAR NOT NULL,
    reason VARCHAR NOT NULL,
    low INTEGER NOT NULL,
    high INTEGER NOT NULL,
    source VARCHAR NOT NULL,
    section VARCHAR NOT NULL,
    sentence_start INTEGER NOT NULL,
    sentence_end INTEGER NOT NULL,
    cues STRUCT(span_start INTEGER, span_end INTEGER, rule VARCHAR)[] NOT NULL,
    confidence DOUBLE NOT NULL
);

CREATE TABLE relation (
    patient INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    note_id VARCHAR NOT NULL,
    type VARCHAR NOT NULL,
    head VARCHAR NOT NULL,
    tail VARCHAR NOT NULL,
    rule VARCHAR NOT NULL
);

CREATE TABLE event (
    event BIGINT NOT NULL,
    patient INTEGER NOT NULL,
    event_id VARCHAR NOT NULL,
    kind VARCHAR NOT NULL,
    concept VARCHAR NOT NULL,
    low INTEGER NOT NULL,
    high INTEGER NOT NULL,
    end_low INTEGER,
    end_high INTEGER,
    polarity VARCHAR NOT NULL,
    temporality VARCHAR NOT NULL,
    experiencer VARCHAR NOT NULL,
    reason VARCHAR NOT NULL,
    world TINYINT NOT NULL,
    tumor VARCHAR NOT NULL,
    tumor_rule TINYINT NOT NULL,
    sources INTEGER NOT NULL,
    anchors VARCHAR[] NOT NULL,
    confidence DOUBLE NOT NULL
);

-- An attribute is text or a number, never both; form (text, float, integer) keeps the value's own type.
CREATE TABLE event_attribute (
    event BIGINT NOT NULL,
    position INTEGER NOT NULL,
    name VARCHAR NOT NULL,
    text VARCHAR,
    number DOUBLE,
    form VARCHAR NOT NULL
);

CREATE TABLE evidence (event BIGINT NOT NULL, position INTEGER NOT NULL, mention_id VARCHAR NOT NULL);

CREATE TABLE decision (
    patient INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    decision_id VARCHAR NOT NULL,
    rule VARCHAR NOT NULL,
    believed VARCHAR[] NOT NULL,
    rejected VARCHAR[] NOT NULL,
    explanation VARCHAR NOT NULL
);

CREATE TABLE quarantine (
    source VARCHAR NOT NULL,
    place VARCHAR NOT NULL,
    patient_id VARCHAR NOT NULL,
    doc_id VARCHAR NOT NULL,
    reason VARCHAR NOT NULL,
    raw VARCHAR NOT NULL
);

CREATE TABLE concept (
    position INTEGER NOT NULL,
    concept VARCHAR NOT NULL,
    kind VARCHAR NOT NULL,
    name VARCHAR NOT NULL,
    site VARCHAR NOT NULL,
    source VARCHAR NOT NULL
);

CREATE TABLE concept_edge (
    edge_id VARCHAR NOT NULL,
    child VARCHAR NOT NULL,
    position INTEGER NOT NULL,
    parent VARCHAR NOT NULL
);

-- role is synonym, abbreviation or code; cues are those of an abbreviation.
CREATE TABLE concept_name (
    concept VARCHAR NOT NULL,
    role VARCHAR NOT NULL,
    position INTEGER NOT NULL,
    name VARCHAR NOT NULL,
    cues VARCHAR[] NOT NULL
);

CREATE TABLE value_set (position INTEGER NOT NULL, name VARCHAR NOT NULL, members VARCHAR[] NOT NULL, aliases VARCHAR[] NOT NULL);

-- Patients with an event of this kind, at or below this concept ('' for any concept), in this world or a higher one: how many
-- they are. Who they are is told by the file 'lists' of the index.
CREATE TABLE posting (
    kind VARCHAR NOT NULL,
    concept VARCHAR NOT NULL,
    world TINYINT NOT NULL,
    size INTEGER NOT NULL
);
