// A ride with the lock screen of each phone at each step. It stands behind dom.js and phone.js in one
// script, because a page that loads nothing can't import them. All variants are in the page's JSON.

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
    language, radios('Card', 'cards', words('cards', 'with a card', 'without')),
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
    const steps = [...document.querySelectorAll('.story-step')];
    const wanted = input.value.length === 5 ? `${input.value}:00` : input.value;
    const full = step => step.dataset.time.length === 5 ? `${step.dataset.time}:00` : step.dataset.time;
    const first = steps.length ? full(steps[0]) : '';
    // A ride over midnight: what is before its first time of day is on the next day.
    const order = time => (time < first ? '1' : '0') + time;
    const step = steps.filter(one => order(full(one)) <= order(wanted)).at(-1);
    if (!step) return;
    step.scrollIntoView({ block: 'start' });
    step.querySelector('h2').focus({ preventScroll: true });
  };
  input.addEventListener('change', find);
  return element('label', { class: 'story-list' }, 'On the screens at ', input);
}

// The ride above.

const marks = ['rang', 'lit', 'silent'];

/** States over time, and for each phone when it rang, lit up, received silently or was off. */
function chart(steps) {
  const wide = Math.max(280, byId('story').clientWidth);
  const from = story.start;
  const to = Math.max(story.end, from + 1);
  const x = at => 4 + (wide - 8) * Math.min(1, Math.max(0, (at - from) / (to - from)));
  const high = 46 + 40 * phoneCount;
  const svg = shape('svg', { width: wide, height: high, role: 'img', 'aria-label': chartWords(steps) });
  const states = steps.filter(step => step.state);
  states.forEach((step, index) => {
    const end = x(states[index + 1]?.at ?? to);
    const box = shape('rect', { x: x(step.at), y: 4, width: Math.max(1, end - x(step.at)), height: 22,
      class: `story-state story-state-${index % 2}` });
    box.append(shape('title', {}, `${timeOf(step.at)} ${step.state}`));
    svg.append(box);
    const fits = Math.floor((end - x(step.at) - 8) / 7);
    const text = step.state.replaceAll('_', ' ');
    if (fits > 3) {
      svg.append(shape('text', { x: x(step.at) + 4, y: 19 },
        text.length > fits ? `${text.slice(0, fits - 1)}…` : text));
    }
  });
  story.phones.forEach((phone, column) => lane(svg, steps, column, 46 + 40 * column, x, wide));
  const step = [60, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400]
    .find(one => (to - from) / one <= wide / 64) ?? 604800;
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
    if (x(at) < wide - 36) svg.append(shape('text', { x: x(at), y: high - 2, class: 'story-tick' }, timeOf(at)));
  }
  return svg;
}

function lane(svg, steps, column, top, x, wide) {
  svg.append(shape('line', { x1: 4, x2: wide - 4, y1: top + 20, y2: top + 20, class: 'story-line' }));
  let before = { rang: 0, lit: 0, silent: 0 };
  let off = null;
  for (const step of steps) {
    const screen = step.screens[column];
    if (!screen.online) off ??= step.at;
    if (off !== null && (screen.online || step === steps.at(-1))) {
      svg.append(shape('rect', { x: x(off), y: top + 14, width: Math.max(1, x(step.at) - x(off)),
        height: 8, class: 'story-away' }));
      off = null;
    }
    const kind = marks.find(name => screen.counts[name] > before[name]);
    if (kind) {
      const height = { rang: 16, lit: 11, silent: 5 }[kind];
      const mark = shape('rect', { x: x(step.at) - 1.5, y: top + 20 - height, width: 3, height,
        class: `story-mark story-${kind}` });
      mark.append(shape('title', {}, `${timeOf(step.at)} ${kind}`));
      svg.append(mark);
    }
    before = screen.counts;
  }
  const total = steps.at(-1)?.screens[column].counts ?? before;
  svg.append(shape('text', { x: 4, y: top + 2, class: 'story-lane' },
    `${appOf(story.phones[column])}: ${marks.map(name => `${name} ${total[name]}`).join(' · ')}`));
}

function chartWords(steps) {
  const states = steps.filter(step => step.state).map(step => `${step.state} at ${timeOf(step.at)}`);
  return `The ride: ${states.join(', ') || 'no state'}; when each phone rang, lit up or stayed silent`;
}

// Step by step.

function rowItem(row) {
  const tag = story.languages[choice.language]?.tag ?? '';
  const own = row.texts.find(one => one.languages.includes(tag));
  const text = own ?? row.texts[0];
  const dir = !own ? 'auto' : story.languages[choice.language]?.rtl ? 'rtl' : 'ltr';
  return element('li', { class: row.sent ? (row.seen ? 'story-sent' : 'story-quiet') : 'story-unsent' },
    element('b', {}, row.rule), ` ${row.head}`,
    text?.text ? element('p', { class: 'story-text' }, element('bdi', { lang: own ? tag : '', dir }, text.text),
      text.manner ? ` (${text.manner})` : '') : null,
    ...row.notes.map(note => element('p', { class: 'story-note' }, note)));
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
  byId('story-span').textContent = `${zone}; ${story.summary}`;
  byId('story-chart').replaceChildren(chart(steps));
  byId('story-steps').replaceChildren(
    ...shown.map((step, index) => section(step, shown[index - 1], index)));
}

byId('story').append(switches(), element('p', { id: 'story-span' }),
  element('div', { id: 'story-chart' }), element('p', { class: 'story-key' },
    ...marks.map(name => element('span', { class: `story-key-${name}` }, element('i', {}), name)),
    element('span', { class: 'story-key-away' }, element('i', {}), 'off')),
  element('div', { id: 'story-steps' }));
draw();
addEventListener('resize', () => byId('story-chart').replaceChildren(chart(stepsOf(variantNow()))));
