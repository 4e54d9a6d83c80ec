// The inbox of a simulator: asks for what has changed, and draws it.

import { byId, count, element, setText } from './dom.js';
import { messageItem, updateMessage } from './inbox-message.js';
import { phoneArticle, nextChange, updatePhone } from './inbox-phone.js';

/** The page draws at most so often, however much arrives. */
const pause = 250;
/** A page takes a sixth of the simulator's time at most, until its pause is the longest. */
const pausePerWork = 5;
const longestPause = 5000;
const retryAfter = 2000;
const mostMessages = 500;
const mostPhones = 60;

/** Null until the first answer. */
let revision = null;
let asking = null;
let filtered = null;
let platform = 'ios';
/** Articles by phone and items by sequence number. */
const phones = new Map();
const messages = new Map();
let timer = null;

function filters() {
  const query = new URLSearchParams();
  const token = byId('token').value.trim();
  if (token) query.set('token', token);
  if (byId('type').value) query.set('type', byId('type').value);
  if (byId('refused').checked) query.set('refused', 'true');
  return query;
}

async function ask(query, signal) {
  const response = await fetch(`/inbox.json?${query}`, { signal, cache: 'no-store' });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error ?? response.statusText);
  return answer;
}

const sleep = milliseconds => new Promise(done => { setTimeout(done, milliseconds); });

function showLink(text, kind) {
  setText(byId('link'), text);
  byId('link').dataset.kind = kind;
}

/** Asks until the filter changes or the page is hidden. */
async function follow() {
  const own = new AbortController();
  asking?.abort();
  asking = own;
  // A page that is shown again goes on where it was.
  const wanted = filters().toString();
  if (wanted !== filtered) clear();
  filtered = wanted;
  while (!own.signal.aborted) {
    try {
      const query = filters();
      query.set('after', revision ?? 0);
      // The first answer comes at once, also if nothing has arrived.
      if (revision !== null) query.set('wait', '25s');
      const answer = await ask(query, own.signal);
      if (own.signal.aborted) return;
      // The simulator was started again, and counts from 0.
      if (answer.revision < revision) {
        clear();
        continue;
      }
      show(answer);
      revision = answer.revision;
      showLink(answer.is_behind ? 'catching up' : 'live', 'good');
      await sleep(Math.min(Math.max(pause, answer.took_ms * pausePerWork), longestPause));
    } catch (error) {
      if (own.signal.aborted) return;
      const isLost = error instanceof TypeError;
      showLink(isLost ? 'connection lost, retrying' : error.message, 'bad');
      await sleep(retryAfter);
    }
    // Another call of this function has begun: what is shown is its own.
    if (own.signal.aborted) return;
  }
}

function clear() {
  revision = null;
  phones.clear();
  messages.clear();
  byId('phones').replaceChildren();
  byId('list').replaceChildren();
}

function show(answer) {
  platform = answer.platform;
  setText(byId('service'), answer.service);
  document.title = `${answer.service}: inbox`;
  for (const phone of answer.phones) showPhone(phone);
  for (const message of answer.messages) showMessage(message);
  trim(phones, mostPhones);
  trim(messages, mostMessages);
  const isEmpty = answer.messages_total === 0;
  setText(byId('phones-note'), isEmpty && !phones.size ? 'nothing has arrived yet' : [
    `${count(phones.size)} shown`,
    answer.phones_total > phones.size && !answer.is_behind
      ? `${count(answer.phones_total - phones.size)} more changed before them: filter by token` : '',
    answer.phones_left ? `${count(answer.phones_left)} had to leave` : '',
  ].filter(Boolean).join(' · '));
  setText(byId('messages-note'), isEmpty ? 'nothing has arrived yet' : [
    `${count(answer.messages_total)} arrived, ${count(answer.refused_total)} were refused`,
    `${count(messages.size)} shown`,
    answer.messages_left ? `the oldest ${count(answer.messages_left)} are only in the record files` : '',
  ].filter(Boolean).join(' · '));
  awaitChange();
}

function showPhone(phone) {
  const known = phones.get(phone.id);
  if (known) return updatePhone(known, phone, platform);
  const made = phoneArticle(phone, platform, change);
  phones.set(phone.id, made);
  byId('phones').prepend(made.article);
}

function showMessage(message) {
  const known = messages.get(message.sequence);
  if (known) return updateMessage(known, message);
  const made = messageItem(message);
  messages.set(message.sequence, made);
  byId('list').prepend(made.item);
  const types = byId('type');
  if (message.type && ![...types.options].some(one => one.value === message.type)) {
    types.append(element('option', { value: message.type }, message.type));
  }
}

/** Removes the oldest. */
function trim(shown, most) {
  for (const key of shown.keys()) {
    if (shown.size <= most) return;
    (shown.get(key).article ?? shown.get(key).item).remove();
    shown.delete(key);
  }
}

/** A card becomes stale, or leaves, without a push. */
function awaitChange() {
  clearTimeout(timer);
  const next = Math.min(...[...phones.values()].map(nextChange));
  if (!Number.isFinite(next)) return;
  timer = setTimeout(async () => {
    const due = [...phones].filter(([, phone]) => nextChange(phone) <= Date.now() / 1000);
    for (const [id] of due) {
      const answer = await ask(new URLSearchParams({ token: id }), asking?.signal).catch(() => null);
      for (const phone of answer?.phones ?? []) if (phones.has(phone.id)) showPhone(phone);
    }
    awaitChange();
  }, Math.min(Math.max(next * 1000 - Date.now() + 500, 500), 3600000));
}

/** Changes a phone as a test does. */
async function change(paths) {
  const problems = [];
  for (const path of paths) {
    const response = await fetch(path, { method: 'POST' }).catch(() => null);
    if (!response?.ok) problems.push(`${path}: ${response ? (await response.json()).error : 'no answer'}`);
  }
  byId('problems').replaceChildren(...problems.map(text => element('li', {}, text)));
}

byId('filter').addEventListener('submit', event => { event.preventDefault(); follow(); });
byId('filter').addEventListener('change', follow);
let typing = null;
byId('token').addEventListener('input', () => {
  clearTimeout(typing);
  typing = setTimeout(follow, 300);
});
document.addEventListener('keydown', event => {
  const isTyping = ['INPUT', 'SELECT'].includes(document.activeElement?.tagName);
  if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  byId('token').focus();
});
// A hidden page must cost the simulator nothing.
document.addEventListener('visibilitychange', () => {
  if (document.hidden) asking?.abort(); else follow();
});

if (!document.hidden) follow();
