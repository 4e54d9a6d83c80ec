-- Finding pushes by person, token and apns-id. Reasons: docs/decisions/0049-finding-out.md.

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

-- The tables are empty: here, no build blocks writers. The index of the whole ledger comes first, so
-- that those of its partitions have their names.
do $$
declare
  m record;
begin
  for m in select * from ridepulse.search_indexes() loop
    execute format('create index %I on %s ridepulse.%I using %s', m.name,
      case m.of_table when 'ledger' then 'only' else '' end, m.of_table, m.definition);
  end loop;
  for m in select * from ridepulse.missing_indexes() loop
    execute format('create index %I on %I.%I using %s', m.name, m.schema, m.relation, m.definition);
    execute format('alter index %1$I.%2$I attach partition %1$I.%3$I', m.schema, m.parent, m.name);
  end loop;
end
$$;
