// The phones of a real ride over time: a slider chooses the time, and each phone shows its screen as it then
// was. It imports nothing, because a page without a server carries it inline; `drawPhone` is phone.js's.

/** An element with a class and children; what is null is left out. */
function screenPart(name, kind, ...children) {
  const made = document.createElement(name);
  if (kind) made.className = kind;
  made.append(...children.filter(child => child !== null));
  return made;
}

/**
 * The phones at a time that a person chooses, at first the last one.
 * @param screens what `RideScreensReport` writes
 * @param drawPhone of phone.js
 */
export function drawScreens(screens, drawPhone) {
  const notes = screenPart('ul', 'screens-notes', ...screens.notes.map(text => screenPart('li', '', text)));
  if (!screens.phones.length) return screenPart('div', 'screens', notes);
  const slider = screenPart('input', 'screens-slider');
  Object.assign(slider, { type: 'range', min: screens.from, max: screens.to, step: 1, value: screens.to });
  slider.setAttribute('aria-label', 'time');
  const shown = screenPart('output', 'screens-time');
  const phones = screenPart('div', 'screens-phones');
  const clock = screensClock(screens.zone);
  const show = at => {
    slider.value = at;
    slider.setAttribute('aria-valuetext', clock(at));
    shown.textContent = clock(at);
    phones.replaceChildren(...screens.phones.map(phone =>
      drawPhone(screenAt(phone, at), { zone: screens.zone, lang: phone.locale ?? 'en' })));
  };
  const changes = [...new Set(screens.phones.flatMap(phone => phone.steps.map(step => step.at)))]
    .sort((a, b) => a - b);
  const button = (text, next) => {
    const made = screenPart('button', '', text);
    made.type = 'button';
    made.addEventListener('click', () => show(next(Number(slider.value))));
    return made;
  };
  slider.addEventListener('input', () => show(Number(slider.value)));
  show(screens.to);
  return screenPart('div', 'screens',
    screenPart('div', 'screens-bar',
      button('Change before', at => changes.findLast(change => change < at) ?? at),
      button('Next change', at => changes.find(change => change > at) ?? screens.to),
      slider, shown),
    phones, notes);
}

/** A phone's screen at a time; before its first step it shows nothing of the ride. */
function screenAt(phone, at) {
  const step = phone.steps.findLast(step => step.at <= at);
  const [first] = phone.steps;
  const screen = step ?? { ...first, threads: [], cards: [], waiting: [], counts: {}, badge: null };
  return { ...screen, at };
}

/** Date and time in the ride's zone; a zone that the browser lacks is UTC. */
function screensClock(zone) {
  const form = { dateStyle: 'short', timeStyle: 'medium' };
  const formOf = timeZone => new Intl.DateTimeFormat('sv', { ...form, timeZone });
  let made;
  try {
    made = formOf(zone);
  } catch {
    made = formOf('UTC');
  }
  return seconds => made.format(new Date(seconds * 1000));
}
