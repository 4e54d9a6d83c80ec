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
  var returned: [(waiting: QueuedRequest<QueuedPush>, cause: UnsentCause)] = []

  /// Events that are not yet emitted.
  var events: [TransportEvent.Kind] = []
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
    // `Answer` reads the responses itself, so that an odd header can't hide a status.
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
  func submit(_ waiting: QueuedRequest<QueuedPush>, at now: MonotonicTime) {
    let slot = machine.streams.reserve()
    var body = unsafe nghttp2_data_provider()
    unsafe body.source.fd = Int32(truncatingIfNeeded: slot)
    unsafe body.read_callback = onReadBody
    let push = waiting.push
    let id = unsafe headers.withFields(of: push.request) { fields, count in
      unsafe nghttp2_submit_request(
        handle, nil, fields, count, &body, UnsafeMutableRawPointer(bitPattern: slot + 1))
    }
    guard id > 0 else {
      machine.streams.release(slot)
      machine.drain(Self.text(of: id))
      returned.append((waiting, .noConnection(Self.text(of: id))))
      return
    }
    machine.streams.fill(slot, with: waiting, id: id, at: now)
  }

  func finish(_ ending: Machine.Ending) {
    switch ending {
    case .report(let push, let outcome): reports.add(push, outcome)
    case .again(let waiting, let cause): returned.append((waiting, cause))
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
  func goodbye() { unsafe nghttp2_session_terminate_session(handle, NGHTTP2_NO_ERROR.rawValue) }

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
}
