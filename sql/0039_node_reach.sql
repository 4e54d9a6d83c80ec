-- A node without a connection to APNs leaves all rides to another node that has one.

alter table ridepulse.nodes add column apns text check (apns in ('reached', 'lost'));

comment on column ridepulse.nodes.apns is
  'Whether the node reaches APNs: reached, with an open connection, or lost; null while unknown.';
