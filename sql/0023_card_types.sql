-- The JSON types of the fields of cards. Reasons: docs/decisions/0053-reading-swift.md.

create table ridepulse.card_types (
  attributes_type text not null,
  field           text not null,
  json_type       text not null,
  count           bigint not null,
  first_at        timestamptz not null default now(),
  last_at         timestamptz not null default now(),
  primary key (attributes_type, field, json_type)
) with (fillfactor = 50);

comment on table ridepulse.card_types is
  'The JSON types that the fields of cards had in pushes which APNs accepted. Each node adds its '
  'counts once a minute, and deletes what was not sent for a day.';
comment on column ridepulse.card_types.attributes_type is 'The attributes-type of the card''s rule.';
comment on column ridepulse.card_types.field is
  'The field with its part of the payload, such as content-state.etaEpoch.';
comment on column ridepulse.card_types.json_type is
  'string, int, fraction (a number with a fraction or an exponent), bool, null, list or object.';
comment on column ridepulse.card_types.count is 'How many pushes had this type since first_at.';
comment on column ridepulse.card_types.first_at is 'When a node first recorded the type.';
comment on column ridepulse.card_types.last_at is 'When a node last recorded the type.';
