-- A ride is parked once two of its lost claims ended while it was decided: one end may be chance.
-- Reasons: docs/decisions/0074-rides-that-end-their-node.md.

alter table ridepulse.lost_claims add column decisions smallint not null default 0;

comment on column ridepulse.lost_claims.decisions is
  'How many of these claims, without the last, ended while the ride was decided.';
