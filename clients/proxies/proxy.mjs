// A phone's calls, through your backend to RidePulse: docs/app.md, Through your backend. Node 18.17, no packages.
//   RIDEPULSE_URL=http://127.0.0.1:9464 RIDEPULSE_ADMIN_TOKEN=… PORT=8080 node proxy.mjs
import http from 'node:http'
import https from 'node:https'

const { RIDEPULSE_URL = 'http://127.0.0.1:9464', RIDEPULSE_ADMIN_TOKEN, PORT = '8080' } = process.env
const bytes = 64 * 1024, milliseconds = 10_000
// So much is read of a body that is refused.
const discarded = 1024 * 1024
const { protocol, pathname } = URL.canParse(RIDEPULSE_URL) ? new URL(RIDEPULSE_URL) : {}
const client = { 'http:': http, 'https:': https }[protocol]
if (!client || pathname !== '/') {
  console.error("RIDEPULSE_URL can't be used: use http://HOST:PORT or https://HOST:PORT")
  process.exit(1)
}

// Put your own here: who has a request's session, with the apps of the rules, and whose a ride is.
const sessions = new Map(Object.entries(JSON.parse(process.env.SESSIONS ?? '{}')))
const rides = new Map(Object.entries(JSON.parse(process.env.RIDES ?? '{}')))
const personOf = async (headers) => sessions.get(headers.authorization?.match(/^Bearer (\S+)$/)?.[1])
const isOf = async (person, ride) => rides.get(ride)?.includes(person.owner) ?? false

class Refusal extends Error {
  constructor(status, code, message) { super(message); Object.assign(this, { status, code }) }
}

async function read(stream) {
  const chunks = []
  const check = (size) => { if (size > bytes) throw new Refusal(413, 'body_too_large', 'more than 64 KiB') }
  check(Number(stream.headers['content-length'] ?? 0))
  let size = 0
  for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
    check(size += chunk.length)
    chunks.push(chunk)
  }
  try {
    const body = JSON.parse(Buffer.concat(chunks).toString())
    if (body && typeof body === 'object' && !Array.isArray(body)) return body
  } catch (problem) { if (!(problem instanceof SyntaxError)) throw problem }
  throw new Refusal(400, 'invalid_json', 'the body is not a JSON object')
}

/** Returns path and body for RidePulse. Whose call it is, the session decides, not what the phone claims. */
async function translate(request, person) {
  const path = request.url.split('?')[0].replace(/^\/push(?=\/)/, '')
  const call = `${request.method} ${path}`
  const gone = call.match(/^DELETE \/v1\/(devices|push-to-start|live-activities)\/([\w-]+)\/[\w%:~-][\w%:.~-]*$/)
  if (gone) {
    if (!person.apps.includes(gone[2])) throw new Refusal(403, 'forbidden', 'the app is not of this session')
    if (gone[1] !== 'live-activities') return [path]
    const reason = /[?&]reason=signed_out(&|$)/.test(request.url) ? '&reason=signed_out' : ''
    return [`${path}?owner_id=${encodeURIComponent(person.owner)}${reason}`]
  }
  if (call === 'POST /v1/seen') return [path, { apns_id: (await read(request)).apns_id }]
  if (!/^(POST \/v1\/(devices|push-to-start|live-activities|contact)|PUT \/v1\/preferences)$/.test(call))
    throw new Refusal(404, 'not_found', 'phones have no such call')
  const body = await read(request)
  if (path === '/v1/live-activities' && !await isOf(person, body.ride_id))
    throw new Refusal(403, 'forbidden', 'the ride is not of this person')
  // RidePulse gives these IDs, and phones register none of them.
  if (path === '/v1/live-activities' && /^[1-9][0-9]*[.]/.test(body.activity_id))
    throw new Refusal(403, 'forbidden', 'the card of an Android phone is not registered')
  return [path, { ...body, app: person.apps.includes(body.app) ? body.app : person.apps[0], owner_id: person.owner }]
}

async function forward(request, path, body) {
  const text = body && JSON.stringify(body)
  const headers = { authorization: `Bearer ${RIDEPULSE_ADMIN_TOKEN}` }
  if (text) Object.assign(headers, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
  const key = request.headers['idempotency-key']
  if (key) headers['idempotency-key'] = key
  // As an option the path stays as it is: a URL would turn %2e%2e into the parent.
  const options = { method: request.method, path, headers, signal: AbortSignal.timeout(milliseconds) }
  const answer = await new Promise((resolve, reject) =>
    client.request(RIDEPULSE_URL, options, resolve).on('error', reject).end(text))
  const chunks = await answer.toArray()
  // RidePulse refuses the backend, not the phone, whose session is good.
  if ([401, 403].includes(answer.statusCode)) throw new Error(`RidePulse answers ${answer.statusCode}`)
  return { status: answer.statusCode, after: answer.headers['retry-after'], body: Buffer.concat(chunks) }
}

/** Reads what was refused: a close before that would reset the connection, and the answer with it. */
const discard = (request) => new Promise((resolve) => {
  let left = discarded
  if (request.complete || request.destroyed) resolve()
  else request.on('data', (chunk) => { if ((left -= chunk.length) < 0) resolve() }).on('end', resolve).on('close', resolve).resume()
})

async function serve(request, response) {
  let answer
  try {
    const person = await personOf(request.headers)
    if (!person) throw new Refusal(401, 'unauthorized', 'no session')
    answer = await forward(request, ...await translate(request, person))
  } catch (problem) {
    const { status = 503, code = 'unknown_outcome', message } = problem instanceof Refusal ? problem : {}
    if (status === 503) console.error(`${request.method} failed: ${problem.message}`)
    answer = { status, body: JSON.stringify({ error: { code, message: message ?? 'RidePulse did not answer' } }) }
  }
  const headers = { 'content-type': 'application/json' }
  if (answer.after) headers['retry-after'] = answer.after
  await discard(request)
  // What was not read is not read as the next request.
  if (!request.complete) headers.connection = 'close'
  response.writeHead(answer.status, headers).end(answer.body)
}

// The time is only checked at these intervals.
const server = http.createServer({ requestTimeout: milliseconds, connectionsCheckingInterval: 1000 }, serve)
server.listen(Number(PORT), '127.0.0.1', () => console.log(`listening on ${server.address().port}`))
