import Base
import CNghttp2
import RideCore

/// An HTTP/2 session of nghttp2, with the push of each stream.
///
/// It uses no socket: bytes enter by `receive` and leave by `nextOutput`. To be used by one thread
/// at a time.
@safe
final class HTTP2Session {
  typealias Machine = ConnectionStateMachine<QueuedPush>

  var machine: Machine

  /// Outcomes that are not yet delivered.
  var reports = ReportCollector()
  var returned: [(queued: QueuedRequest<QueuedPush>, cause: UnsentCause)] = []

  /// True if streams have ended whose pushes are not yet reported or returned.
  var hasEnded: Bool { !reports.isEmpty || !returned.isEmpty }

  /// Events that are not yet emitted.
  var events: [TransportEvent.Kind] = []

  /// True if the token that is presented was refused.
  var hasTokenExpired = false

  /// APNs' time, taken from its answer to a refused provider token.
  var serverTime: Timestamp?

  /// The wall clock at the start of this turn, for dates in answers.
  var wall: Timestamp

  /// The number of bytes produced so far; `sent` is how many of them the socket has accepted.
  private(set) var produced = 0
  var sent = 0

  let headers: HeaderBlock
  private var handle: OpaquePointer?

  init(settings: Machine.Settings, headers: HeaderBlock, at now: MonotonicTime, wall: Timestamp)
    throws(CurlError)
  {
    machine = Machine(settings: settings, at: now)
    self.headers = headers
    self.wall = wall
    var handle: OpaquePointer?
    let anchor = unsafe Unmanaged.passUnretained(self).toOpaque()
    var option: OpaquePointer?
    guard unsafe nghttp2_option_new(&option) == 0, let option = unsafe option else {
      throw CurlError(text: "out of memory")
    }
    defer { unsafe nghttp2_option_del(option) }
    // `PushResponse` reads the responses itself, so that an odd header can't hide a status.
    unsafe nghttp2_option_set_no_http_messaging(option, 1)
    // nghttp2 keeps closed streams only for priorities, which APNs ignores.
    unsafe nghttp2_option_set_no_closed_streams(option, 1)
    guard let callbacks = unsafe makeCallbacks() else { throw CurlError(text: "out of memory") }
    defer { unsafe nghttp2_session_callbacks_del(callbacks) }
    let failure = unsafe nghttp2_session_client_new2(&handle, callbacks, anchor, option)
    guard failure == 0 else { throw CurlError(text: Self.text(of: failure)) }
    unsafe self.handle = unsafe handle
    try begin()
  }

  deinit { unsafe nghttp2_session_del(handle) }

  private func begin() throws(CurlError) {
    let settings = [
      nghttp2_settings_entry(
        settings_id: Int32(NGHTTP2_SETTINGS_ENABLE_PUSH.rawValue), value: 0)
    ]
    var failure = unsafe nghttp2_submit_settings(handle, 0, settings, settings.count)
    guard failure == 0 else { throw CurlError(text: Self.text(of: failure)) }
    // Answers are small: with this window a WINDOW_UPDATE is hardly ever sent.
    failure = unsafe nghttp2_session_set_local_window_size(handle, 0, 0, 1 << 24)
    guard failure == 0 else { throw CurlError(text: Self.text(of: failure)) }
  }

  // MARK: Pushes

  /// Opens a stream for a push; its end appears in `reports` or `returned`.
  func submit(_ queued: QueuedRequest<QueuedPush>, at now: MonotonicTime) {
    let slot = machine.streams.reserve()
    var body = unsafe nghttp2_data_provider()
    unsafe body.source.fd = Int32(truncatingIfNeeded: slot)
    unsafe body.read_callback = onReadBody
    let push = queued.push
    let id = unsafe headers.withFields(of: push.submission.requests[push.index]) { fields, count in
      unsafe nghttp2_submit_request(
        handle, nil, fields, count, &body, UnsafeMutableRawPointer(bitPattern: slot + 1))
    }
    guard id > 0 else {
      machine.streams.release(slot)
      machine.drain(Self.text(of: id))
      returned.append((queued, .noConnection(Self.text(of: id))))
      return
    }
    machine.streams.fill(slot, with: queued, id: id, at: now)
  }

  func finish(_ ending: Machine.Ending) {
    switch ending {
    case .report(let push, let outcome, let id): reports.add(push, outcome, uniqueID: id)
    case .again(let queued, let cause): returned.append((queued, cause))
    }
  }

  /// Ends the streams without an answer within their deadline.
  func endTimedOut(at now: MonotonicTime) {
    while let (id, ending) = machine.nextTimeout(at: now, sent: sent) {
      reset(id)
      finish(ending)
    }
  }

  /// Cancels a stream whose answer is no longer needed.
  func reset(_ id: Int32, code: UInt32 = UInt32(NGHTTP2_CANCEL.rawValue)) {
    unsafe nghttp2_submit_rst_stream(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), id, code)
  }

  func ping() { unsafe nghttp2_submit_ping(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil) }

  /// Queues a final GOAWAY for the next output.
  func terminate() { unsafe nghttp2_session_terminate_session(handle, NGHTTP2_NO_ERROR.rawValue) }

  // MARK: Bytes

  /// Returns the next bytes to send, valid until the next call; empty if there are none.
  func nextOutput() throws(CurlError) -> UnsafeRawBufferPointer {
    var bytes: UnsafePointer<UInt8>?
    let count = unsafe nghttp2_session_mem_send(handle, &bytes)
    guard count >= 0 else { throw CurlError(text: Self.text(of: Int32(count))) }
    produced += count
    return unsafe UnsafeRawBufferPointer(start: bytes, count: count)
  }

  /// Processes bytes received from the server.
  func receive(_ bytes: UnsafeRawBufferPointer) throws(CurlError) {
    let start = unsafe bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
    let count = unsafe nghttp2_session_mem_recv(handle, start, bytes.count)
    guard count >= 0 else {
      throw CurlError(text: "the server broke HTTP/2: " + Self.text(of: Int32(count)))
    }
  }

  /// True if nghttp2 wants neither to read nor to write: the connection is of no more use.
  var isDead: Bool {
    unsafe nghttp2_session_want_read(handle) == 0 && nghttp2_session_want_write(handle) == 0
  }

  static func text(of code: Int32) -> String { unsafe String(cString: nghttp2_strerror(code)) }

  // MARK: Callbacks of nghttp2

  /// Copies the next piece of a push's body; returns nil if its stream has ended.
  func readBody(slot: Int, id: Int32, into room: UnsafeMutableRawBufferPointer)
    -> (count: Int, isWhole: Bool)?
  {
    let produced = produced
    return machine.streams.update(slot, id: id) { stream in
      if stream.bodyStart == nil { stream.bodyStart = produced }
      let (push, start) = (stream.queued.push, stream.bodyOffset)
      return unsafe push.submission.requests[push.index].payload.withUnsafeBytes { payload in
        let count = min(room.count, payload.count - start)
        unsafe room.copyMemory(
          from: UnsafeRawBufferPointer(rebasing: payload[start..<start + count]))
        stream.bodyOffset = start + count
        return (count, start + count == payload.count)
      }
    }
  }

  func header(
    slot: Int, id: Int32, name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>
  ) {
    if unsafe Self.isName(name, ":status") {
      _ = machine.streams.update(slot, id: id) { unsafe $0.answer.receive(status: value) }
    } else if unsafe Self.isName(name, "retry-after") {
      _ = machine.streams.update(slot, id: id) { unsafe $0.answer.receive(retryAfter: value) }
    } else if unsafe Self.isName(name, "date") {
      _ = machine.streams.update(slot, id: id) { unsafe $0.answer.receive(date: value) }
    } else if unsafe Self.isName(name, "apns-unique-id") {
      _ = machine.streams.update(slot, id: id) { unsafe $0.answer.receive(uniqueID: value) }
    }
  }

  /// Compares names without regard to case: HTTP/2 requires lower case, but some proxies do not
  /// comply.
  private static func isName(_ name: UnsafeBufferPointer<UInt8>, _ wanted: StaticString) -> Bool {
    guard name.count == wanted.utf8CodeUnitCount else { return false }
    for index in 0..<name.count {
      let byte = unsafe name[index]
      let isUpper = byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z")
      guard unsafe (isUpper ? byte | 0x20 : byte) == wanted.utf8Start[index] else { return false }
    }
    return true
  }

  func data(slot: Int, id: Int32, piece: UnsafeBufferPointer<UInt8>) {
    let fits = machine.streams.update(slot, id: id) { unsafe $0.answer.receive(body: piece) }
    // The status has arrived and no reason is this long; the close of the stream reports the push.
    if fits == false { reset(id) }
  }

  func limited(to streams: Int) {
    guard streams != machine.peerLimit else { return }
    machine.limited(to: streams)
    events.append(.streamLimit(streams))
  }

  func wentAway(lastStream: Int32, code: UInt32, data: UnsafeBufferPointer<UInt8>) {
    var reason = unsafe ReasonBody(Array(data.prefix(PushResponse.bodyLimit)))?.reason
    if reason == nil, code != 0 { reason = Self.errorName(code) }
    machine.wentAway(lastStream: lastStream, reason: reason)
    events.append(.goAway(reason: reason))
  }

  func closed(slot: Int, id: Int32, code: UInt32) {
    let ended = machine.closed(
      slot, id: id, code: code, errorName: Self.errorName(code), wall: wall)
    guard let ended else { return }
    if ended.tokenExpired { hasTokenExpired = true }
    // Other refusals are unrelated to the clock used for signing.
    if let refusal = ended.refusal, refusal.status == 403, let time = refusal.serverTime {
      serverTime = time
    }
    finish(ended.ending)
  }

  /// Handles a stream whose headers were not sent.
  ///
  /// nghttp2 keeps no user data for a stream that it never opened, so this searches for the slot;
  /// it happens once in the life of a connection.
  func notSent(id: Int32) {
    guard let slot = machine.streams.used.first(where: { machine.streams.id(in: $0) == id }),
      let ending = machine.notSent(slot, id: id)
    else { return }
    finish(ending)
  }

  private static func errorName(_ code: UInt32) -> String {
    code == 0 ? "NO_ERROR" : unsafe String(cString: nghttp2_http2_strerror(code))
  }
}
