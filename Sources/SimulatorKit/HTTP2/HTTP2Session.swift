import CNghttp2

/// An nghttp2 server session.
@safe final class HTTP2Session: Session {
  let streams: StreamTable
  private let session: OpaquePointer
  private let refusesIdlePings: Bool
  private var sendsSettings = true

  /// Returns nil if memory is exhausted.
  init?(callbacks: SessionCallbacks) {
    streams = StreamTable(isSink: callbacks.isSink)
    refusesIdlePings = callbacks.refusesIdlePings
    // The table outlives the session: this object owns both, and deinit ends the session.
    let table = unsafe Unmanaged.passUnretained(streams).toOpaque()
    var made: OpaquePointer?
    let status = unsafe nghttp2_session_server_new2(
      &made, callbacks.callbacks, table, callbacks.options)
    guard status == 0, let session = unsafe made else { return nil }
    unsafe self.session = session
  }

  func begin(maximumStreams: Int?) {
    if let maximumStreams {
      submitSettings(maximumStreams: maximumStreams)
    } else {
      sendsSettings = false
    }
    unsafe nghttp2_session_set_local_window_size(
      session, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, 1 << 24)
  }

  deinit {
    unsafe nghttp2_session_del(session)
  }

  func receive(_ bytes: UnsafeRawBufferPointer) -> String? {
    let start = unsafe bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
    let result = unsafe nghttp2_session_mem_recv(session, start, bytes.count)
    if result >= 0 {
      if refusesIdlePings, streams.hasIdlePings { refusePing() }
      return nil
    }
    return unsafe "not HTTP/2: " + String(cString: nghttp2_strerror(Int32(result)))
  }

  func write(to output: inout OutputBuffer) -> SessionOutput {
    var start: UnsafePointer<UInt8>?
    let count = unsafe nghttp2_session_mem_send(session, &start)
    if count < 0 { return .failed }
    if count == 0 { return .none }
    unsafe output.append(UnsafeBufferPointer(start: start, count: count))
    return .some
  }

  var isOver: Bool {
    unsafe nghttp2_session_want_read(session) == 0 && nghttp2_session_want_write(session) == 0
  }

  func isOpen(_ stream: Int32) -> Bool {
    unsafe nghttp2_session_find_stream(session, stream) != nil
  }

  func setMaximumStreams(_ count: Int) {
    if sendsSettings { submitSettings(maximumStreams: count) }
  }

  func reset(_ stream: Int32, _ code: UInt32) {
    unsafe nghttp2_submit_rst_stream(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, code)
  }

  func goAway(lastStream: Int32, data: [UInt8]) {
    goAway(lastStream: lastStream, .noError, data)
  }

  private func goAway(lastStream: Int32, _ code: ErrorCode, _ data: [UInt8]) {
    unsafe nghttp2_submit_goaway(
      session, UInt8(NGHTTP2_FLAG_NONE.rawValue), lastStream, code.rawValue, data, data.count)
  }

  /// Ends the connection as Google's servers do with a client that pings without need.
  private func refusePing() {
    if streams.sentGoAway != nil { return }
    let last = unsafe nghttp2_session_get_last_proc_stream_id(session)
    goAway(lastStream: last, .enhanceYourCalm, Array("too_many_pings".utf8))
  }

  func answer(_ stream: Int32, _ answer: Answer, isWhole: Bool) {
    guard isOpen(stream) else { return }
    if !answer.body.isEmpty { streams.willAnswer(stream, body: answer.body, isWhole: isWhole) }
    var block = HeaderBlock()
    block.append(":status", String(answer.status))
    for header in answer.headers { block.append(header.name, header.value) }
    unsafe block.withFields { fields in
      var provider = unsafe nghttp2_data_provider()
      unsafe provider.read_callback = unsafe readAnswerBody
      if answer.body.isEmpty {
        return unsafe nghttp2_submit_response(
          session, stream, fields.baseAddress, fields.count, nil)
      } else {
        return unsafe nghttp2_submit_response(
          session, stream, fields.baseAddress, fields.count, &provider)
      }
    }
  }

  func accept(_ stream: Int32, _ acceptance: Acceptance) {
    let fields = unsafe acceptance.nextFields()
    unsafe nghttp2_submit_response(session, stream, fields.baseAddress, fields.count, nil)
  }

  private func submitSettings(maximumStreams: Int) {
    let settings = [
      nghttp2_settings_entry(
        settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue),
        value: UInt32(clamping: maximumStreams))
    ]
    unsafe nghttp2_submit_settings(
      session, UInt8(NGHTTP2_FLAG_NONE.rawValue), settings, settings.count)
  }
}

/// The names and values of one answer in one buffer; nghttp2 copies them from pointers.
struct HeaderBlock {
  private var text: [UInt8] = []
  private var lengths: [(name: Int, value: Int)] = []

  mutating func append(_ name: String, _ value: String) {
    text += name.utf8
    text += value.utf8
    lengths.append((name.utf8.count, value.utf8.count))
  }

  /// Calls `body` with the fields, which are valid only within it.
  mutating func withFields(_ body: (UnsafeBufferPointer<nghttp2_nv>) -> Int32) {
    unsafe text.withUnsafeMutableBufferPointer { buffer in
      guard var position = buffer.baseAddress else { return }
      var fields: [nghttp2_nv] = unsafe []
      for length in lengths {
        // Only the status is worth indexing: the other values never repeat.
        let isStatus = unsafe fields.isEmpty
        let flag = isStatus ? NGHTTP2_NV_FLAG_NONE : NGHTTP2_NV_FLAG_NO_INDEX
        unsafe fields.append(
          nghttp2_nv(
            name: position, value: position + length.name, namelen: length.name,
            valuelen: length.value, flags: UInt8(flag.rawValue)))
        unsafe position += length.name + length.value
      }
      _ = unsafe fields.withUnsafeBufferPointer(body)
    }
  }
}

/// The header fields of `:status 200` with an ID that counts up.
///
/// They are laid out once and rewritten in place, because sink mode must cost little compared with
/// nghttp2 and TLS.
@safe final class Acceptance {
  private static let status = ":status200"
  private static let firstID = "00000000-0000-4000-8000-000000000000"
  private static let fieldCount = 2

  private let text: UnsafeMutablePointer<UInt8>
  private let fields: UnsafeMutablePointer<nghttp2_nv>
  /// Where the ID begins in the text.
  private let start: Int
  private var count: UInt64 = 0

  /// - Parameter idHeader: the header that the ID is in.
  init(idHeader: String) {
    let head = Self.status + idHeader
    start = head.utf8.count
    let bytes = Array((head + Self.firstID).utf8)
    unsafe text = .allocate(capacity: bytes.count)
    unsafe text.initialize(from: bytes, count: bytes.count)
    unsafe fields = .allocate(capacity: Self.fieldCount)
    unsafe fields.initialize(
      to: nghttp2_nv(name: text, value: text + 7, namelen: 7, valuelen: 3, flags: 0))
    let flags = UInt8(NGHTTP2_NV_FLAG_NO_INDEX.rawValue)
    unsafe (fields + 1).initialize(
      to: nghttp2_nv(name: text + 10, value: text + 17, namelen: 7, valuelen: 36, flags: flags))
  }

  deinit {
    unsafe fields.deallocate()
    unsafe text.deallocate()
  }

  /// Returns the fields of the next answer, valid until the next call.
  func nextFields() -> UnsafeBufferPointer<nghttp2_nv> {
    count &+= 1
    var rest = count
    // The last twelve digits of the UUID are a counter of 48 bits.
    var position = start + 35
    while rest > 0, position > start + 23 {
      unsafe text[position] = [UInt8].hexDigits[Int(rest & 15)]
      rest >>= 4
      position -= 1
    }
    return unsafe UnsafeBufferPointer(start: fields, count: Self.fieldCount)
  }
}
