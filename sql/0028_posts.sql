-- Posts: a rule's HTTP calls have ledger rows of their own kind.

-- The column push_type of the ledger has the word `post` for them. The view and the function are
-- rewritten in place, so that each is spelled once.
do $$
declare
  view_text constant text := pg_get_viewdef('ridepulse.deliveries'::regclass);
  call_text constant text :=
    pg_get_functiondef('ridepulse.deliveries_after(text, integer)'::regprocedure);
  new_view constant text := replace(view_text, '''escalation''::text])) THEN l.push_type',
    '''escalation''::text, ''post''::text])) THEN l.push_type');
  new_call constant text := replace(call_text, '(''emit'', ''escalation'') then l.push_type',
    '(''emit'', ''escalation'', ''post'') then l.push_type');
begin
  if new_view = view_text or new_call = call_text then
    raise exception 'ridepulse.deliveries has another text than this step expects';
  end if;
  execute 'create or replace view ridepulse.deliveries as ' || new_view;
  execute new_call;
end
$$;

comment on view ridepulse.deliveries is
  'Outcomes of pushes, of posts to receivers, and of events that rules emit, for people and backends. '
  'kind is push, post, emit or escalation; push_type is null unless it is push. apns_id is null if '
  'nothing was sent; of a post it is the webhook-id. seen_at is null unless the app reported the push; '
  'apns_unique_id is that of Apple''s Push Notifications Console, null unless APNs sent one.';
