-- The reason of a push as a code, next to the text that people read. Programs compare the code; the
-- text may change from one version to the next. null: accepted, or written by an earlier version.

alter table ridepulse.ledger add column reason_code text;
comment on column ridepulse.ledger.reason_code is
  'reason as one of few words: APNs'' own, "HTTP n", or the engine''s; see docs/sql.md';
