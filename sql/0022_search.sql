-- Finding pushes by person, token and apns-id, and the rules that decided each push.
-- Reasons: docs/decisions/0049-finding-out.md.

-- Writers queue behind the locks below while this waits for them: 2 s for each small table, and 2 s
-- for the ledger with all its partitions. If it can't have them, nothing has changed, and
-- `ridepulse migrate` can be repeated.
set local lock_timeout = '2s';

create table ridepulse.revisions (
  id         integer primary key,
  rules      text not null,
  version    text not null,
  first_seen timestamptz not null default clock_timestamp(),
  last_seen  timestamptz not null default clock_timestamp()
);

comment on table ridepulse.revisions is
  'The rule files and program versions that decided pushes: one row for each combination that a '
  'service has started with or reloaded.';
comment on column ridepulse.revisions.id is
  'The decided_by of ledger rows: the first 32 bits of the SHA-256 of rules, a space and version.';
comment on column ridepulse.revisions.rules is
  'SHA-256 of the rule files, as `ridepulse check` prints it.';
comment on column ridepulse.revisions.version is 'The version of the program.';
comment on column ridepulse.revisions.first_seen is 'When a service first used the combination.';
comment on column ridepulse.revisions.last_seen is
  'When a service last started with the combination or reloaded it.';

create function ridepulse.search_indexes()
returns table (of_table text, name text, definition text)
language sql immutable set search_path = pg_catalog, pg_temp as $$
  values
    ('rides', 'rides_by_customer', 'btree (customer_id) where customer_id is not null'),
    ('rides', 'rides_by_driver', 'btree (driver_id) where driver_id is not null'),
    ('devices', 'devices_by_suffix', 'btree (right(token, 6) text_pattern_ops)'),
    ('devices', 'devices_disabled_by_owner',
      'btree (app, owner_id, id) where disabled_at is not null'),
    ('live_activities', 'live_activities_by_suffix', 'btree (right(token, 6) text_pattern_ops)'),
    ('push_to_start_tokens', 'push_to_start_tokens_by_suffix',
      'btree (right(token, 6) text_pattern_ops)'),
    ('push_to_start_tokens', 'push_to_start_tokens_disabled_by_owner',
      'btree (app, owner_id) where disabled_at is not null'),
    -- Bytewise comparison of few different keys: cheap to insert, and small.
    ('ledger', 'ledger_by_token',
      'btree (token_suffix text_pattern_ops) where token_suffix is not null'),
    -- A filter for each range of blocks: 3 bytes a row, and no page to read or write for each row
    -- that a settlement appends.
    ('ledger', 'ledger_by_apns_id',
      'brin (apns_id uuid_bloom_ops(n_distinct_per_range = 2000, false_positive_rate = 0.001)) '
      'with (pages_per_range = 64, autosummarize = on)')
$$;

comment on function ridepulse.search_indexes() is
  'Returns the indexes that `ridepulse explain` needs: table, name, and definition after "using".';

create function ridepulse.missing_indexes()
returns table (
  schema text, relation text, name text, definition text, parent text, state text, bytes bigint
)
language sql stable set search_path = pg_catalog, pg_temp as $$
  with leaves as (
    select s.definition, s.name as whole, c.oid as leaf, c.relnamespace as space, c.relispartition,
      -- The index of a partition is named after the partition.
      case when c.relispartition then c.relname || substr(s.name, length(s.of_table) + 1)
        else s.name end as name
    from ridepulse.search_indexes() s
    join pg_class t on t.relname = s.of_table and t.relnamespace = (
      select l.relnamespace from pg_class l where l.oid = 'ridepulse.ledger'::regclass)
    join pg_class c on c.relkind = 'r'
      and (c.oid = t.oid or c.oid in (select i.inhrelid from pg_inherits i where i.inhparent = t.oid))
  )
  select n.nspname, c.relname, l.name, l.definition, case when l.relispartition then l.whole end,
    case when x.indexrelid is null then 'missing' when x.indisvalid then 'detached'
      when exists (
        select from pg_stat_progress_create_index b where b.index_relid = x.indexrelid)
      then 'building' else 'invalid' end,
    pg_relation_size(l.leaf)
  from leaves l
  join pg_class c on c.oid = l.leaf
  join pg_namespace n on n.oid = l.space
  left join pg_class i on i.relname = l.name and i.relnamespace = l.space
  left join pg_index x on x.indexrelid = i.oid
  where case when l.relispartition then not exists (
      select from pg_inherits h join pg_index y on y.indexrelid = h.inhrelid
      join pg_class w on w.oid = h.inhparent
      where y.indrelid = l.leaf and w.relname = l.whole and w.relnamespace = l.space)
    else x.indisvalid is not true end
  order by l.whole, c.relname desc
$$;

comment on function ridepulse.missing_indexes() is
  'Returns the indexes that `ridepulse migrate` has yet to build without blocking writers: table or '
  'partition, name, definition after "using", and the index of the whole ledger to attach it to. '
  'state: missing, invalid (a build was interrupted), building (by another session) or detached '
  '(only to be attached).';

-- Building an index here blocks writers of the table, so only small tables get theirs at once.
do $$
declare
  small constant bigint := 4 * 1024 * 1024;
  m record;
  part oid;
  give_up_at timestamptz;
begin
  for m in
    select * from ridepulse.missing_indexes() i where i.parent is null and i.bytes < small
  loop
    execute format('create index %I on %I.%I using %s', m.name, m.schema, m.relation, m.definition);
  end loop;
  -- Last, because all settlements wait for these locks. `alter table` would wait 2 s for each of them.
  give_up_at := clock_timestamp() + interval '2 seconds';
  for part in
    select t.relid from pg_partition_tree('ridepulse.ledger') t order by t.level, t.relid::oid
  loop
    perform set_config('lock_timeout', greatest(1, ceil(1000 *
      extract(epoch from give_up_at - clock_timestamp())))::integer::text, true);
    execute format('lock table only %s in access exclusive mode', part::regclass);
  end loop;
  perform set_config('lock_timeout', '2s', true);
  alter table ridepulse.ledger add column decided_by integer;
  comment on column ridepulse.ledger.decided_by is
    'The rules and the program version that decided the status, an ID in revisions; null if a '
    'program that does not record it has.';
  for m in select * from ridepulse.search_indexes() i where i.of_table = 'ledger' loop
    execute format('create index %I on only ridepulse.ledger using %s', m.name, m.definition);
  end loop;
  for m in
    select * from ridepulse.missing_indexes() i where i.parent is not null and i.bytes < small
  loop
    execute format('create index %I on %I.%I using %s', m.name, m.schema, m.relation, m.definition);
    execute format('alter index %1$I.%2$I attach partition %1$I.%3$I', m.schema, m.parent, m.name);
  end loop;
end
$$;
