-- What is counted of the finished tables.

-- name: kinds
SELECT kind, count(*), count(*) FILTER (WHERE low = high AND (low > $1 OR high < $2)),
    count(*) FILTER (WHERE low > $1 OR high < $2)
FROM built.event GROUP BY kind ORDER BY kind;

-- name: first_day
SELECT min(low) FROM built.event WHERE low > $1;

-- name: newest_note
SELECT max(date) FROM built.note;
