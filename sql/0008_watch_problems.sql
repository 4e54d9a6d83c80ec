-- The problems of attached tables: those that were met while rows were copied, and those that the
-- catalog shows.

-- One row for each table, column and kind of problem, so that the table stays small.
create table ridepulse.watch_errors (
  relation    regclass not null,
  column_name text not null,
  problem     text not null,
  row_id      text,
  detail      text,
  count       bigint not null default 1,
  first_at    timestamptz not null,
  last_at     timestamptz not null,
  primary key (relation, column_name, problem)
) with (fillfactor = 50);

comment on table ridepulse.watch_errors is
  'Problems met while rows of attached tables were copied.';
comment on column ridepulse.watch_errors.relation is 'The attached table.';
comment on column ridepulse.watch_errors.column_name is
  'The column or trigger; empty if the problem concerns the row or the table.';
comment on column ridepulse.watch_errors.problem is
  'The kind of problem; docs/sql.md describes each one.';
comment on column ridepulse.watch_errors.row_id is
  'The ID of the last row concerned, at most 80 characters of it.';
comment on column ridepulse.watch_errors.detail is
  'Details of the last occurrence, at most 200 characters.';
comment on column ridepulse.watch_errors.count is
  'Number of transactions that met the problem: a lower bound.';
comment on column ridepulse.watch_errors.first_at is 'When the problem was first recorded.';
comment on column ridepulse.watch_errors.last_at is 'When the problem was last recorded.';

-- last_at is null for problems that the catalog shows now. Disabled triggers of this schema's own
-- tables are listed, too.
create view ridepulse.watch_problems as
  select case when t.oid is null then p.relation::oid::text
      else format('%I.%I', n.nspname, t.relname) end as "table",
    p.column_name, p.problem, p.row_id, p.detail, p.count, p.first_at, p.last_at
  from (
    select w.relation, '' as column_name, 'missing_table' as problem, null::text as row_id,
      null::text as detail, null::bigint as count, null::timestamptz as first_at,
      null::timestamptz as last_at
    from ridepulse.watches w where not exists (select from pg_class c where c.oid = w.relation)
    union all
    select w.relation, m.column_name, 'missing_column', null, 'mapped to ' || m.target, null, null,
      null
    from ridepulse.watches w join pg_class c on c.oid = w.relation
    cross join lateral (
      select key as target, value as column_name from jsonb_each_text(w.columns)
      where w.ride_function is null
      union all
      select 'attributes.' || key, value from jsonb_each_text(w.attributes)
    ) m
    where not exists (
      select from pg_attribute a
      where a.attrelid = w.relation and a.attname = m.column_name and a.attnum > 0
        and not a.attisdropped)
    union all
    select w.relation, wanted.name,
      case when g.is_there then 'disabled_trigger' else 'missing_trigger' end,
      null, null, null, null, null
    from ridepulse.watches w join pg_class c on c.oid = w.relation
    cross join (values ('ridepulse_read'), ('ridepulse_watch'), ('ridepulse_read_update'),
      ('ridepulse_watch_update')) wanted (name)
    left join lateral (
      -- Each partition has its own copy of the trigger.
      select bool_or(g.tgenabled in ('D', 'R')) as is_disabled, count(*) > 0 as is_there
      from pg_trigger g
      where g.tgname = wanted.name and g.tgrelid in (
        select w.relation::oid union all select relid::oid from pg_partition_tree(w.relation))
    ) g on true
    where not g.is_there or g.is_disabled
    union all
    select w.relation, '', 'late_trigger', null, null, null, null, null
    from ridepulse.watches w
    join pg_trigger g on g.tgrelid = w.relation and g.tgname = 'ridepulse_read_update'
    where cardinality(g.tgattr::smallint[]) > 0 and (
      exists (select from pg_trigger b
              where b.tgrelid in (select w.relation::oid
                                  union all select relid::oid from pg_partition_tree(w.relation))
                and not b.tgisinternal and b.tgtype & 19 = 19)
      or exists (select from pg_attribute a where a.attrelid = w.relation and a.attgenerated <> ''
                 and not a.attisdropped))
    union all
    select w.relation, '', 'missing_function', null, w.ride_function, null, null, null
    from ridepulse.watches w join pg_class c on c.oid = w.relation
    where to_regprocedure(format('%s(%s)', w.ride_function, w.relation)) is null
      and w.ride_function is not null
    union all
    select g.tgrelid::regclass, g.tgname, 'disabled_trigger', null, null, null, null, null
    from pg_trigger g join pg_class c on c.oid = g.tgrelid
    where c.relnamespace = 'ridepulse'::regnamespace and not g.tgisinternal
      and g.tgenabled in ('D', 'R')
    union all
    select e.relation, e.column_name, e.problem, e.row_id, e.detail, e.count, e.first_at, e.last_at
    from ridepulse.watch_errors e
    where e.problem <> 'missing_column' or exists (
      select from pg_attribute a where a.attrelid = e.relation and a.attname = e.column_name)
  ) p
  left join pg_class t on t.oid = p.relation left join pg_namespace n on n.oid = t.relnamespace;

comment on view ridepulse.watch_problems is
  'Problems of attached tables: those that the catalog shows now, and those in watch_errors.';

create function ridepulse.record_watch_error(
  relation regclass, column_name text, problem text, row_id text default null,
  detail text default null
) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  -- Once for each transaction, because each further update would leave a dead row.
  if exists (
    select from ridepulse.watch_errors e
    where e.relation = record_watch_error.relation
      and e.column_name = record_watch_error.column_name
      and e.problem = record_watch_error.problem and e.last_at >= now())
    or not pg_try_advisory_xact_lock(hashtextextended(
      'ridepulse.watch_errors ' || relation::oid || ' ' || column_name || ' ' || problem, 0))
  then
    return;
  end if;
  begin
    -- ridepulse.forget and ridepulse.sweep hold rows, too.
    perform from ridepulse.watch_errors e
    where e.relation = record_watch_error.relation
      and e.column_name = record_watch_error.column_name
      and e.problem = record_watch_error.problem
    for no key update skip locked;
    if not found and exists (
      select from ridepulse.watch_errors e
      where e.relation = record_watch_error.relation
        and e.column_name = record_watch_error.column_name
        and e.problem = record_watch_error.problem)
    then
      return;
    end if;
    insert into ridepulse.watch_errors as e
      (relation, column_name, problem, row_id, detail, first_at, last_at)
    values (record_watch_error.relation, record_watch_error.column_name,
            record_watch_error.problem, left(record_watch_error.row_id, 80),
            left(record_watch_error.detail, 200), now(), now())
    on conflict on constraint watch_errors_pkey do update set
      row_id = excluded.row_id, detail = excluded.detail, count = e.count + 1,
      last_at = excluded.last_at;
  exception when serialization_failure then
    null;  -- Another transaction recorded it after this one's snapshot was taken.
  end;
end
$$;

comment on function ridepulse.record_watch_error(regclass, text, text, text, text) is
  'Records a problem in ridepulse.watch_errors, once for each transaction, and waits for no other '
  'transaction. row_id and detail are cut to 80 and 200 characters.';
