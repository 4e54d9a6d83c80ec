// A ride with the lock screen of each phone at each step. It stands behind dom.js, phone.js and
// story-chart.js in one script, because a page that loads nothing can't import them. All variants are in the page's JSON.

const story = JSON.parse(byId('data').textContent);
const choice = { ...story.first, hole: null, hides: false };
const phoneCount = story.phones.length;

/** The story's zone; UTC if the browser lacks it, so that times and their zone agree. */
const zoneNow = () => firstThatWorks(
  [choice.night && story.night_zone ? story.night_zone : story.zone, 'UTC'], formOf);
const timeForms = {};
const formOf = zone => timeForms[zone] ??= new Intl.DateTimeFormat('en', {
  hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23', timeZone: zone,
});

/** `09:14`, with seconds only if it has some; in the story's zone. */
function timeOf(seconds) {
  const text = formOf(zoneNow()).format(new Date(seconds * 1000));
  return text.endsWith(':00') ? text.slice(0, -3) : text;
}

const appOf = phone => [phone.name, phone.app, phone.platform === 'android' ? 'Android' : null]
  .filter(Boolean).join(' · ');

/** Events and states as words. */
const eventWords = text => text.replaceAll('_', ' ');

/** The variant of the switches; without one, the nearest. */
function variantNow() {
  const fits = one => one.language === choice.language && one.cards === choice.cards
    && one.night === choice.night;
  return story.variants.find(one => fits(one) && one.hole === choice.hole)
    ?? story.variants.find(fits) ?? story.variants[0];
}

/** The steps of a variant with everything that they refer to. */
function stepsOf(variant) {
  const own = story.parts[variant.language];
  const part = index => own[index] || story.parts[0][index];
  return story.tracks[variant.track].map(([moment, ...screens]) => ({
    ...story.moments[moment],
    screens: screens.map((index, column) => {
      const screen = story.screens[index];
      const { app, platform, name } = story.phones[column];
      return { ...screen, app, platform, name, at: story.moments[moment].at,
        threads: screen.threads.map(thread => thread.map(part)), cards: screen.cards.map(part),
        waiting: screen.waiting.map(part), lost: screen.lost.map(part) };
    }),
  }));
}

// Switches.

function radios(title, key, options) {
  const buttons = options.map(([value, text], index) => {
    const input = element('input', { type: 'radio', name: key, id: `${key}-${index}` });
    input.checked = choice[key] === value;
    input.addEventListener('change', () => { choice[key] = value; draw(); });
    return element('label', {}, input, text);
  });
  return options.length < 2 ? null : element('fieldset', {}, element('legend', {}, title), ...buttons);
}

function selectList(title, id, options, change) {
  const select = element('select', { id },
    ...options.map(([, text], index) => element('option', { value: index }, text)));
  select.addEventListener('change', () => { change(options[select.value][0]); });
  return options.length < 2 ? null : element('label', { class: 'story-list' }, `${title} `, select);
}

const languageName = tag => {
  try {
    return `${new Intl.DisplayNames(['en'], { type: 'language' }).of(tag)} (${tag})`;
  } catch {
    return tag || 'as the rules have it';
  }
};

function holeOptions() {
  const starts = [...new Set(story.variants.map(one => one.hole).filter(hole => hole !== null))].sort();
  return [[null, 'none'], ...starts.map(start => [start, `${timeOf(start)} to ${timeOf(start + 600)}`])];
}

/** The switches, with the values that variants have. */
function switches() {
  const values = key => [...new Set(story.variants.map(one => one[key]))];
  const words = (key, yes, no) => values(key).map(value => [value, value ? yes : no]);
  const language = selectList('Language', 'language',
    story.languages.map((one, index) => [index, languageName(one.tag)]),
    value => { choice.language = value; draw(); });
  if (language) language.querySelector('select').value = choice.language;
  const hidden = element('input', { type: 'checkbox', id: 'unsent' });
  hidden.checked = !choice.hides;
  hidden.addEventListener('change', () => { choice.hides = !hidden.checked; draw(); });
  const form = element('form', { class: 'story-switches', 'aria-label': 'Variants' },
    language, radios('Card (Live Activity)', 'cards', words('cards', 'with a card', 'without')),
    radios('Time', 'night', words('night', 'at night', 'as in the story')),
    element('span', { id: 'hole-place' }),
    radios('Appearance', 'scheme', [[undefined, 'automatic'], ['light', 'light'], ['dark', 'dark']]),
    element('label', {}, hidden, 'show what was not sent'), finder());
  form.addEventListener('submit', event => event.preventDefault());
  return form;
}

/** The choice of a hole: its times are those of the zone. */
function holeList() {
  const options = holeOptions();
  const made = selectList('No network', 'hole', options, value => { choice.hole = value; draw(); });
  if (made) made.querySelector('select').value = options.findIndex(one => one[0] === choice.hole);
  return made;
}

/** Goes to what the phones showed at a time of day. */
function finder() {
  const input = element('input', { type: 'time', id: 'find', step: 1 });
  input.value = timeOf(story.start);
  const find = () => {
    const steps = [...document.querySelectorAll('[data-time]')];
    const wanted = input.value.length === 5 ? `${input.value}:00` : input.value;
    const full = step => step.dataset.time.length === 5 ? `${step.dataset.time}:00` : step.dataset.time;
    const first = steps.length ? full(steps[0]) : '';
    // A ride over midnight: what is before its first time of day is on the next day.
    const order = time => (time < first ? '1' : '0') + time;
    // At the second of a step, it is the step; after it, what follows.
    const step = steps.filter(one => one.classList.contains('story-quiet-time')
      ? order(full(one)) < order(wanted) : order(full(one)) <= order(wanted)).at(-1);
    if (!step) return;
    step.scrollIntoView({ block: step.classList.contains('story-step') ? 'start' : 'center' });
    step.querySelector('h2').focus({ preventScroll: true });
  };
  input.addEventListener('change', find);
  return element('label', { class: 'story-list' }, 'On the screens at ', input);
}

// Step by step.

function rowItem(row) {
  const tag = story.languages[choice.language]?.tag ?? '';
  const own = row.texts.find(one => one.languages.includes(tag));
  const text = own ?? row.texts[0];
  const dir = !own ? 'auto' : story.languages[choice.language]?.rtl ? 'rtl' : 'ltr';
  const kind = row.sent ? (row.seen ? 'story-sent' : 'story-unseen') : row.waits ? 'story-waits' : 'story-unsent';
  return element('li', { class: kind },
    element('b', {}, row.rule), ` ${row.head}`,
    text?.text ? element('p', { class: 'story-text' }, element('bdi', { lang: own ? tag : '', dir }, text.text),
      text.manner ? ` (${text.manner})` : '') : null,
    ...row.notes.map(note => element('p', { class: 'story-note' }, note)));
}

/** What follows a step until the next one: why nothing is sent in it. */
function quietTime(step, next, number) {
  if (step.quiet === null || step.quiet === undefined) return null;
  const { until, lines } = story.quiets[step.quiet];
  const times = `${timeOf(step.at)} to ${timeOf(until)}`;
  return element('section', { class: 'story-quiet-time', 'aria-labelledby': `quiet-${number}`,
    'data-time': timeOf(step.at) },
  element('h2', { id: `quiet-${number}`, tabindex: '-1' }, element('span', { class: 'story-times' }, times), ' ',
    next ? 'nothing is sent, and the screens stay' : 'nothing more is sent'),
  ...lines.map(line => element('p', {}, line)));
}

/** What newly did not reach a phone's screen. */
function losses(step, before) {
  return step.screens.flatMap((screen, column) =>
    screen.lost.slice(before?.screens[column].lost.length ?? 0).map(lost =>
      element('li', { class: 'story-lost' }, element('b', {}, lost.rule),
        ` not on the screen of ${appOf(story.phones[column])}: ${lost.reason}`,
        lost.text ? element('p', { class: 'story-text' }, element('bdi', {}, lost.text)) : null)));
}

function section(step, before, number) {
  const rows = step.rows.map(index => story.rows[index]).filter(row => row.sent || !choice.hides);
  const lost = losses(step, before);
  const title = step.title ? [' ', element('strong', {}, step.title.replaceAll(', ', ' · '))] : [];
  const head = element('h2', { id: `step-${number}`, tabindex: '-1' },
    element('time', { datetime: new Date(step.at * 1000).toISOString() }, timeOf(step.at)), ...title);
  const items = rows.length || lost.length
    ? element('ul', {}, ...rows.map(rowItem), ...lost)
    : element('p', { class: 'story-note' }, 'Nothing is sent.');
  const many = phoneCount > 4 ? ' story-many' : '';
  const phones = element('div', { class: `story-phones${many}` }, ...step.screens.map((screen, column) => {
    const locale = story.phones[column].locale;
    const language = story.languages.find(one => one.tag === locale) ?? story.languages[choice.language];
    return drawPhone(screen, { zone: zoneNow(), lang: locale ?? language?.tag,
      dir: language?.rtl ? 'rtl' : 'ltr', images: story.images });
  }));
  return element('section', { class: 'story-step', 'aria-labelledby': `step-${number}`,
    'data-time': timeOf(step.at) }, head, element('div', { class: 'story-what' }, items), phones);
}

/** Whether a step shows anything that the reader has not seen one step before. */
function isWorthShowing(step) {
  return step.title || step.rows.some(index => story.rows[index].sent || !choice.hides);
}

function draw() {
  document.documentElement.style.colorScheme = choice.scheme ?? '';
  const steps = stepsOf(variantNow());
  const shown = steps.filter(isWorthShowing);
  const zone = `${timeOf(story.start)} to ${timeOf(story.end)} (${zoneNow()})`;
  const hadFocus = document.activeElement?.id === 'hole';
  byId('hole-place').replaceChildren(...[holeList()].filter(Boolean));
  if (hadFocus) byId('hole').focus();
  if (byId('story-span').dataset.zone !== zoneNow()) byId('find').value = timeOf(story.start);
  byId('story-span').dataset.zone = zoneNow();
  byId('story-span').replaceChildren(zone, ...attention(steps));
  byId('story-chart').replaceChildren(chart(steps), later(steps));
  byId('story-steps').replaceChildren(...shown.flatMap((step, index) => [
    section(step, shown[index - 1], index), quietTime(step, shown[index + 1], index),
  ].filter(Boolean)));
}

/** What each phone's counters add up to at the end: `customer: 6 notifications, 2 rang, 1 lit, 3 silent`. */
function attention(steps) {
  return (steps.at(-1)?.screens ?? []).map((screen, column) => {
    const numbers = attentionKinds.map(kind => screen.counts[kind] ?? 0);
    const total = numbers.reduce((sum, one) => sum + one, 0);
    const hasCard = steps.some(step => step.screens[column].cards.length);
    return element('span', { class: 'story-total' }, element('b', {}, `${appOf(story.phones[column])}: `),
      `${plural(total, 'notification')}${hasCard ? ' and changes of the card' : ''}, `,
      attentionKinds.map((kind, index) => `${numbers[index]} ${kind}`).join(', '));
  });
}

/** What the colours and lines of the page mean. */
function legend() {
  const item = (kind, text) => element('span', { class: `story-key-${kind}` }, element('i', {}), text);
  return element('div', { class: 'story-key' },
    element('p', {}, element('b', {}, 'In the chart: '), ...attentionKinds.map(name => item(name, name)),
      item('unseen', 'wakes the app, not seen'), item('away', 'no network')),
    element('p', {}, element('b', {}, 'Left of the phones: '), item('bar-sent', 'sent'),
      item('bar-unseen', 'sent, not seen'), item('bar-waits', 'waits'), item('bar-unsent', 'not sent'),
      item('bar-lost', 'sent, not on the screen')));
}

byId('story').append(switches(), element('p', { id: 'story-span' }),
  element('div', { id: 'story-chart' }), legend(),
  element('div', { id: 'story-steps' }));
draw();
addEventListener('resize', () => {
  const steps = stepsOf(variantNow());
  byId('story-chart').replaceChildren(chart(steps), later(steps));
});
