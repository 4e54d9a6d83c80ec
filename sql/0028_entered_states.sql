-- When rides entered their states.
--
-- The times have a table of their own: ridepulse.rides is the type of the functions that map attached
-- tables, and each of those names all of its columns. Reasons: docs/decisions/0089-me-and-entered-states.md.

-- Rows are written in place, and no index has the times.
create table ridepulse.entered_states (
  ride_id text primary key,
  entered jsonb not null
) with (fillfactor = 70);

comment on table ridepulse.entered_states is
  'When each ride last entered each of its states; rules read it as ride.entered. A ride that was '
  'attached or backfilled in a state has no time of it. Rows go with their ride.';
comment on column ridepulse.entered_states.ride_id is 'The ride.';
comment on column ridepulse.entered_states.entered is
  'By state, the time of its event in microseconds since 1970.';

create function ridepulse.enter_state(ride_id text, state text, at timestamptz, is_new boolean)
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  -- Rules name states of at most 64 bytes. The row is limited, whatever a service has as states.
  if octet_length(state) > 64 then
    return;
  end if;
  insert into ridepulse.entered_states as s (ride_id, entered)
  values (enter_state.ride_id, jsonb_build_object(enter_state.state,
    (extract(epoch from enter_state.at) * 1000000)::bigint))
  on conflict on constraint entered_states_pkey do update set
    entered = case when is_new or pg_column_size(s.entered) > 16384 then excluded.entered
      else s.entered || excluded.entered end;
end
$$;

comment on function ridepulse.enter_state(text, text, timestamptz, boolean) is
  'Records when a ride entered a state. is_new: the ride was inserted, so that times of a former one '
  'with its ID do not count.';

-- A row of an attached table that moves to another partition is deleted and inserted again in one
-- transaction: its ride keeps its times.
create function ridepulse.entered_states_removed() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if tg_relid <> 'ridepulse.rides'::regclass then
    raise exception 'ridepulse.entered_states_removed serves ridepulse.rides alone, not %',
      tg_relid::regclass using errcode = 'insufficient_privilege';
  end if;
  delete from ridepulse.entered_states s
  where s.ride_id = old.id and not exists (select from ridepulse.rides r where r.id = old.id);
  return null;
end
$$;

comment on function ridepulse.entered_states_removed() is
  'Trigger function: deletes the times of a ride that is deleted at the end of the transaction. '
  'Errors: 42501 on any table other than ridepulse.rides.';

create constraint trigger entered_states_removed after delete on ridepulse.rides
deferrable initially deferred for each row execute function ridepulse.entered_states_removed();
