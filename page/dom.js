// Creates the page's elements. Texts are inserted as text and never as markup: a ride's ID or state
// is input from outside.

export const byId = id => document.getElementById(id);

/** An element with attributes and children; texts become text. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children.filter(child => child !== null && child !== undefined));
  return made;
}

const svgSpace = 'http://www.w3.org/2000/svg';

/** The same for a drawing. */
export function shape(name, attributes = {}, ...children) {
  const made = document.createElementNS(svgSpace, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** Sets a text only if it differs, so that a screen reader does not repeat it. */
export function setText(target, text) {
  if (target.textContent !== text) target.textContent = text;
}

/**
 * A table. A cell is a text, a number or an element.
 * @param heads `{text, number, whole}`; numbers are right-aligned, and what is `whole` breaks nowhere.
 */
export function table(caption, heads, rows) {
  const cell = (name, head, content, more = {}) => element(name, {
    ...more, ...(head.number ? { class: 'number' } : head.whole ? { class: 'whole' } : {}),
  }, content instanceof Node ? content : String(content));
  const head = element('tr', {}, ...heads.map(head => cell('th', head, head.text, { scope: 'col' })));
  const body = rows.map(row => element('tr', {},
    ...row.map((content, index) => cell('td', heads[index], content))));
  return element('table', {}, element('caption', { class: 'unseen' }, caption),
    element('thead', {}, head), element('tbody', {}, ...body));
}

const counts = new Intl.NumberFormat('en');
const clockForm = new Intl.DateTimeFormat(undefined,
  { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' });
const dayForm = new Intl.DateTimeFormat('sv', { dateStyle: 'short' });

/**
 * A list of many columns: a narrow window stacks the cells of each row.
 *
 * Cells that are blocks are no longer a table for a screen reader, so that each element states its role.
 */
export function list(caption, heads, rows) {
  const made = table(caption, heads, rows);
  made.classList.add('list');
  const roles = { table: 'table', thead: 'rowgroup', tbody: 'rowgroup', tr: 'row', th: 'columnheader', td: 'cell' };
  made.setAttribute('role', roles.table);
  for (const [name, role] of Object.entries(roles)) {
    for (const node of made.querySelectorAll(name)) node.setAttribute('role', role);
  }
  return made;
}

export const count = number => counts.format(number);

/** `08:15:00`, of seconds since 1970. */
export const clock = seconds => clockForm.format(new Date(seconds * 1000));

/** `2026-11-21 08:15:00`, of an ISO text. */
export function moment(iso) {
  const date = new Date(iso);
  return Number.isNaN(date.getTime()) ? iso : `${dayForm.format(date)} ${clockForm.format(date)}`;
}

/** `3.2 ms`, `1.5 s`, `4 min`. */
export function span(milliseconds) {
  if (milliseconds === null || milliseconds === undefined) return '–';
  if (milliseconds < 10) return `${milliseconds.toFixed(1)} ms`;
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 60000) return `${(milliseconds / 1000).toFixed(1)} s`;
  if (milliseconds < 7200000) return `${Math.round(milliseconds / 60000)} min`;
  return `${Math.round(milliseconds / 3600000)} h`;
}

/** Unknown push types share one class. */
export const typeClass = type =>
  ['alert', 'background', 'liveactivity'].includes(type) ? `type-${type}` : 'type-other';

/** A coloured box before a push type's name. */
export const typeName = type =>
  element('span', { class: `type ${typeClass(type)}` }, element('i', {}), type);

/** A link that explains a ride. */
export const rideLink = id =>
  element('a', { href: `#ride=${encodeURIComponent(id)}`, class: 'ride' }, id);
