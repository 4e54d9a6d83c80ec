// Starts the parts of the page, and owns the event stream.

import { followCards } from './cards.js';
import { byId, setText } from './dom.js';
import { showLive } from './live.js';
import { followAddress } from './ride.js';
import { followTimeline } from './timeline.js';

const retryAfter = 3000;
let stream = null;

function showLink(text, kind) {
  setText(byId('link'), text);
  byId('link').dataset.kind = kind;
  byId('main').classList.toggle('stale', kind === 'bad');
}

function listen() {
  if (stream) stream.close();
  stream = new EventSource('live');
  stream.onmessage = event => {
    showLink('live', 'good');
    showLive(JSON.parse(event.data));
  };
  stream.onerror = () => {
    showLink('connection lost, retrying', 'bad');
    // After a response that is not a stream, such as 503, a browser does not reconnect by itself.
    if (stream && stream.readyState === EventSource.CLOSED) {
      stream = null;
      setTimeout(() => { if (!stream && !document.hidden) listen(); }, retryAfter);
    }
  };
}

// A hidden page must cost the service nothing.
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) return listen();
  if (stream) stream.close();
  stream = null;
});

if (!document.hidden) listen();
followAddress();
followTimeline();
followCards();
