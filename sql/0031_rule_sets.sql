-- The files of the last good rules, with which a node starts if its own have problems.
-- Reasons: docs/decisions/0125-rules-as-a-release.md.

create table ridepulse.rule_sets (
  digest        text primary key check (digest ~ '^[0-9a-f]{64}$'),
  names         text[] not null,
  texts         text[] not null check (cardinality(texts) = cardinality(names)),
  version       text not null,
  used_at       timestamptz default now(),
  share_used_at timestamptz
);

comment on table ridepulse.rule_sets is
  'The files of the last rules that a node loaded without a problem; the newest five are kept.';
comment on column ridepulse.rule_sets.digest is
  'The SHA-256 that ridepulse check prints, and that revisions.rules has.';
comment on column ridepulse.rule_sets.names is
  'The names of the files below the rule directory, such as strings/en.yaml.';
comment on column ridepulse.rule_sets.texts is 'The text of each file, in the order of the names.';
comment on column ridepulse.rule_sets.version is 'The version of the program that loaded them last.';
comment on column ridepulse.rule_sets.used_at is
  'When a node last loaded them from its rule directory; null if none did.';
comment on column ridepulse.rule_sets.share_used_at is
  'When a node last loaded them for a share of the rides; null if none did.';
