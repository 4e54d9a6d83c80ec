// Draws one phone's lock screen from the JSON of `ScreenJSON`. It imports nothing, because a story's page
// carries it inline. Texts are inserted as text and never as markup.

/** An element with a class and children; what is null is left out. */
function part(name, kind, ...children) {
  const made = document.createElement(name);
  if (kind) made.className = kind;
  made.append(...children.flat(2).filter(child => child !== null && child !== undefined && child !== ''));
  return made;
}

const plural = (number, one) => `${number} ${one}${number === 1 ? '' : 's'}`;

/**
 * The whole lock screen of one phone.
 * @param screen what `ScreenJSON` writes
 * @param options all optional: `zone` for times, `lang` and `dir` of the texts, `images` by the words in a
 *   card's state, `enums` as `{ FIELD: { VALUE: words } }`
 */
export function drawPhone(screen, options = {}) {
  try {
    return lockScreen(screen, options);
  } catch (error) {
    // What a card's state holds is the app's own: one that is odd must not take the page with it.
    return part('figure', 'phone', part('figcaption', 'phone-name', screen?.name ?? screen?.app ?? ''),
      part('p', 'phone-hint', `this screen can't be drawn: ${error.message}`));
  }
}

function lockScreen(screen, options) {
  const view = { ...options, at: screen.at, app: screen.app, phoneClock: phoneClock(options) };
  const name = captionOf(screen);
  const glass = part('div', 'phone-glass', bar(screen, view),
    part('p', 'phone-clock', view.phoneClock(screen.at, false)),
    screen.online ? null : part('p', 'phone-off', 'off: no network'),
    screen.cards.map(card => drawCard(card, screen, view)),
    screen.threads.map(thread => drawThread(thread, view)),
    screen.deletions ? part('p', 'phone-hint', 'FCM deleted messages: the app asks its server') : null,
    screen.cards.length || screen.threads.length ? null : part('p', 'phone-hint', 'nothing'));
  if (options.lang) glass.lang = tagOf(options.lang);
  glass.dir = options.dir ?? 'auto';
  const figure = part('figure', `phone phone-${screen.platform}`,
    part('figcaption', 'phone-name', name), glass, counter(screen.counts), waiting(screen));
  figure.setAttribute('aria-label', `${name} at ${view.phoneClock(screen.at, true)}`);
  return figure;
}

/** `Customer’s iPhone`, or the system and an app that is no word. */
function captionOf({ name, platform, app }) {
  const system = platform === 'android' ? 'Android phone' : 'iPhone';
  const phone = /^[a-z]+$/i.test(app ?? '')
    ? `${app[0].toUpperCase()}${app.slice(1)}\u2019s ${system}` : [system, app].filter(Boolean).join(' · ');
  return [name, phone].filter(Boolean).join(' · ');
}

/** Language tags have hyphens; apps register `de_DE` as well. */
const tagOf = lang => lang?.replaceAll('_', '-');

/** Writes times as a phone of that language and zone does; what the browser lacks of them is English or UTC. */
function phoneClock({ zone = 'UTC', lang = 'en' }) {
  const tag = firstThatWorks([tagOf(lang) || 'en', 'en'], one => new Intl.DateTimeFormat(one));
  const timeZone = firstThatWorks([zone, 'UTC'], one => new Intl.DateTimeFormat('en', { timeZone: one }));
  // Latin digits, as the engine's own times have them.
  const forms = [false, true].map(hasSeconds => new Intl.DateTimeFormat(tag, {
    hour: '2-digit', minute: '2-digit', hourCycle: 'h23', numberingSystem: 'latn', timeZone,
    ...(hasSeconds ? { second: '2-digit' } : {}) }));
  return (seconds, hasSeconds) => {
    const date = new Date(seconds * 1000);
    // A payload may state a time that no calendar has.
    return Number.isNaN(date.getTime()) ? '–' : forms[hasSeconds ? 1 : 0].format(date);
  };
}

/** The first of the values with which `make` does not throw, or else the last one. */
function firstThatWorks(values, make) {
  return values.find(value => {
    try {
      return Boolean(make(value));
    } catch {
      return false;
    }
  }) ?? values.at(-1);
}

/** The status bar: the Dynamic Island of an iPhone, compact and minimal, or Android's chip. */
function bar(screen, view) {
  const live = screen.cards.filter(card => !card.ended).at(-1);
  const parts = [];
  if (live) {
    const { headline, time } = cardFields(live, view);
    const initial = part('b', 'phone-initial', initialOf(screen.app));
    if (screen.platform === 'android') {
      const chip = lookTime(live, view) ?? live.look?.short ?? time?.short;
      if (chip) parts.push(part('span', 'phone-chip', initial, ' ', chip));
    } else {
      const trailing = part('bdi', '', time?.short ?? headline ?? '');
      const minimal = part('span', 'phone-minimal', time?.short ?? initialOf(screen.app));
      minimal.title = 'Dynamic Island, minimal';
      const compact = part('span', 'phone-island', initial, trailing);
      compact.title = 'Dynamic Island, compact';
      parts.push(compact, minimal);
    }
  }
  if (screen.focus) {
    parts.push(part('span', 'phone-focus', screen.platform === 'android' ? 'Do Not Disturb' : 'Focus'));
  }
  if (screen.badge) parts.push(part('span', 'phone-badge', `badge ${screen.badge}`));
  const made = part('div', 'phone-bar', parts);
  made.dir = 'ltr';
  return made;
}

const initialOf = app => (app || '?').slice(0, 1).toUpperCase();

/** Notifications of one thread, the newest first. */
function drawThread(thread, view) {
  return part('ul', 'phone-thread', thread.map(shown => {
    const marks = shown.new ? ['New'] : [];
    if (shown.level === 'time-sensitive') marks.push('Time sensitive');
    if (shown.level === 'critical') marks.push('Critical');
    // Of a push whose content is not known, the rule alone is stated.
    const isKnown = shown.known !== false;
    if (isKnown && shown.attention !== 'silent') marks.push(shown.attention);
    const head = part('p', 'phone-head', part('span', 'phone-app', view.app), ' ',
      marks.length ? part('b', 'phone-mark', marks.join(' · ')) : null, ' ',
      part('time', '', view.phoneClock(shown.at, false)));
    head.dir = 'ltr';
    const texts = isKnown ? ['title', 'subtitle', 'body'].map(key =>
      shown[key] ? part('p', `phone-${key}`, shown[key]) : null)
      : part('p', 'phone-unknown', `an alert of ${shown.rule}: its text is not recorded`);
    const made = part('li', `phone-notification phone-is-${isKnown ? shown.attention : 'unknown'}`, head, texts,
      shown.replaces ? part('p', 'phone-note', 'replaces ', part('bdi', '', `“${shown.replaces}”`)) : null);
    if (shown.rule) made.title = `rule ${shown.rule}`;
    return made;
  }));
}

/** A card as the app draws it, if there is a picture for its state; else by its fields. */
function drawCard(card, screen, view) {
  const notes = card.new ? ['New'] : [];
  if (card.stale) notes.push(`stale since ${view.phoneClock(card.stale_at, false)}`);
  if (card.ended) {
    notes.push(card.gone_at ? `ended, leaves at ${view.phoneClock(card.gone_at, false)}` : 'ended');
  }
  const note = notes.length ? part('p', 'phone-note', notes.join(' · ')) : null;
  if (note) note.dir = 'ltr';
  const picture = card.known === false
    ? part('p', 'phone-unknown', 'a card: its content is not recorded') : pictureOf(card, view);
  const made = part('div', 'phone-card', picture ?? (screen.platform === 'android' && card.look
    ? drawLook(card, view) : drawFields(card, view)), note);
  made.setAttribute('role', 'group');
  made.setAttribute('aria-label', `card ${card.name}`);
  if (card.stale) made.classList.add('phone-is-stale');
  if (card.ended) made.classList.add('phone-is-ended');
  return made;
}

function pictureOf(card, view) {
  if (!view.images || !card.state || typeof card.state !== 'object') return null;
  const word = Object.values(card.state).find(value =>
    typeof value === 'string' && Object.hasOwn(view.images, value));
  if (word === undefined) return null;
  const made = part('img', 'phone-picture');
  made.src = view.images[word];
  made.alt = `the app's card: ${wordsOf(word)}`;
  return made;
}

/** What an Android phone draws without code of the app: texts and the bar of steps. */
function drawLook(card, view) {
  const { title, text, steps, step, fraction } = card.look;
  const parts = [title ? part('p', 'phone-title', title) : null, text ? part('p', 'phone-body', text) : null];
  if (steps) {
    const done = (step ?? 0) + (fraction ?? 0);
    const progress = part('progress', 'phone-progress');
    progress.max = steps;
    progress.value = done;
    progress.setAttribute('aria-label', `step ${(step ?? 0) + 1} of ${steps}`);
    parts.push(progress);
  }
  const countdown = lookTime(card, view);
  if (countdown) parts.push(part('p', 'phone-countdown', part('bdi', '', countdown)));
  return parts;
}

const lookTime = (card, view) =>
  typeof card.look?.countdown === 'number' ? timeText(card.look.countdown, view).short : null;

/** A decent drawing of any card: its words large, its time as a countdown, the rest by name. */
function drawFields(card, view) {
  const { headline, time, rest } = cardFields(card, view);
  if (!headline && !time && !rest.length) return part('p', 'phone-hint', 'the app\u2019s own content');
  const head = part('p', 'phone-headline', headline ? part('bdi', '', headline) : null,
    time ? part('bdi', 'phone-countdown', time.text) : null);
  const list = part('dl', 'phone-fields', rest.map(([name, text]) =>
    part('div', '', part('dt', '', nameOf(name)), part('dd', '', part('bdi', '', text)))));
  return [head, rest.length ? list : null];
}

/** The headline, the most urgent time, and the other fields of a card. */
function cardFields(card, view) {
  const state = card.state && typeof card.state === 'object' ? card.state : {};
  let headline = null;
  let time = null;
  const rest = [];
  for (const [name, value] of Object.entries(state)) {
    if (value === null || value === '') continue;
    const seconds = secondsOf(name, value);
    if (seconds !== null && !time) {
      time = timeText(seconds, view);
    } else if (seconds !== null) {
      rest.push([name, timeText(seconds, view).text]);
    } else if (isEnum(value, name, view)) {
      const words = view.enums?.[name]?.[value] ?? wordsOf(value);
      if (headline === null) headline = words;
      else rest.push([name, words]);
    } else {
      rest.push([name, plain(value)]);
    }
  }
  return { headline, time, rest };
}

const plain = value => typeof value === 'string' ? value
  : typeof value === 'boolean' ? (value ? 'yes' : 'no')
    : typeof value === 'number' ? value.toLocaleString('en', { maximumFractionDigits: 3 })
      : JSON.stringify(value);

/** Seconds since 1970 of a field that is a time: epoch, milliseconds, ISO text, or Swift's own seconds. */
function secondsOf(name, value) {
  if (typeof value === 'number') {
    if (value >= 1e9 && value < 4e9) return value;
    if (value >= 1e12 && value < 4e12) return value / 1000;
    // JSONEncoder writes a Date as seconds since 2001, if nobody tells it otherwise.
    if (value >= 7e8 && value < 1e9 && /(at|time|date|eta|until)$/i.test(name)) return value + 978307200;
    return null;
  }
  if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(value)) return null;
  const milliseconds = Date.parse(value);
  return Number.isNaN(milliseconds) ? null : milliseconds / 1000;
}

/** A countdown up to an hour, else the time of day. */
function timeText(seconds, view) {
  const left = Math.round(seconds - view.at);
  const clock = view.phoneClock(seconds, false);
  if (left <= 0 || left > 3600) return { short: clock, text: clock };
  const short = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')}`;
  return { short, text: `${short} → ${clock}` };
}

function isEnum(value, name, view) {
  if (typeof value !== 'string') return false;
  return Boolean(view.enums?.[name]?.[value]) || /^(status|state|phase)$/i.test(name)
    || /^[A-Z][A-Z0-9]*(_[A-Z0-9]+)+$/.test(value) || /^[a-z]+(_[a-z0-9]+)+$/.test(value);
}

const wordsOf = value =>
  /^[A-Z0-9_]+$/.test(value) ? value.toLowerCase().replaceAll('_', ' ') : value.replaceAll('_', ' ');

/** `driverName` and `driver_name` as words. */
const nameOf = name => name.replace(/([a-z])([A-Z])/g, '$1 $2').replaceAll('_', ' ').toLowerCase()
  .replace(/ epoch$/, '');

function counter(counts) {
  const names = ['rang', 'lit', 'silent', ...(counts.unknown ? ['unknown'] : [])];
  return part('p', 'phone-counts', names.map((name, index) =>
    [index ? ' · ' : '', part('span', `phone-count-${name}`, `${name} ${counts[name] ?? 0}`)]));
}

/** What waits at APNs or FCM until the phone is back. */
function waiting(screen) {
  if (!screen.waiting.length) return null;
  const service = screen.platform === 'android' ? 'FCM' : 'APNs';
  return part('div', 'phone-waiting',
    part('p', '', `${plural(screen.waiting.length, 'push').replace('pushs', 'pushes')} waiting at ${service}`),
    part('ul', '', screen.waiting.map(push =>
      part('li', '', part('bdi', '', push.text || push.type), ` (${push.rule})`))));
}
