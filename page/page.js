// Starts the parts of the page, and holds the stream of what is live.

import { byId, say } from './dom.js';
import { showLive } from './live.js';
import { followAddress } from './ride.js';
import { followTimeline } from './timeline.js';

const retryAfter = 3000;
let stream = null;

function tell(text, kind) {
  say(byId('link'), text);
  byId('link').dataset.kind = kind;
  byId('main').classList.toggle('stale', kind === 'bad');
}

function listen() {
  if (stream) stream.close();
  stream = new EventSource('/live');
  stream.onmessage = event => {
    tell('live', 'good');
    showLive(JSON.parse(event.data));
  };
  stream.onerror = () => {
    tell('connection lost, trying again', 'bad');
    // After an answer that is no stream, such as 503, a browser does not try by itself.
    if (stream && stream.readyState === EventSource.CLOSED) {
      stream = null;
      setTimeout(() => { if (!stream && !document.hidden) listen(); }, retryAfter);
    }
  };
}

// A page that nobody sees costs the service nothing.
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) return listen();
  if (stream) stream.close();
  stream = null;
});

if (!document.hidden) listen();
followAddress();
followTimeline();
