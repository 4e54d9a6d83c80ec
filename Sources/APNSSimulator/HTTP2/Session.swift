import CNghttp2

/// One nghttp2 server session: bytes in, bytes out, requests in its table.
@safe final class Session {
  let streams: StreamTable
  private let session: OpaquePointer

  /// Nil when memory is out.
  init?(maximumStreams: Int, callbacks: SessionCallbacks) {
    streams = StreamTable(isSink: callbacks.isSink)
    // The table outlives the session: both belong to this object, and deinit ends the session.
    let table = unsafe Unmanaged.passUnretained(streams).toOpaque()
    var made: OpaquePointer?
    let status = unsafe nghttp2_session_server_new2(
      &made, callbacks.callbacks, table, callbacks.options)
    guard status == 0, let session = unsafe made else { return nil }
    unsafe self.session = session
    submitSettings(maximumStreams: maximumStreams)
    unsafe nghttp2_session_set_local_window_size(
      session, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, 1 << 24)
  }

  deinit {
    unsafe nghttp2_session_del(session)
  }

  /// False when the peer broke the protocol beyond an answer.
  func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
    let start = unsafe bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
    return unsafe nghttp2_session_mem_recv(session, start, bytes.count) >= 0
  }

  /// The next frame to send; it stays valid until the next call. Nil: an error ended the session.
  func nextOutput() -> UnsafeBufferPointer<UInt8>? {
    var start: UnsafePointer<UInt8>?
    let count = unsafe nghttp2_session_mem_send(session, &start)
    return unsafe count < 0 ? nil : UnsafeBufferPointer(start: start, count: count)
  }

  /// After GOAWAY, when the last open stream has ended.
  var isOver: Bool {
    unsafe nghttp2_session_want_read(session) == 0 && nghttp2_session_want_write(session) == 0
  }

  /// False once the client reset the stream; an answer that was delayed then has no receiver.
  func isOpen(_ stream: Int32) -> Bool {
    unsafe nghttp2_session_find_stream(session, stream) != nil
  }

  func setMaximumStreams(_ count: Int) {
    submitSettings(maximumStreams: count)
  }

  func reset(_ stream: Int32, _ code: UInt32) {
    unsafe nghttp2_submit_rst_stream(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, code)
  }

  func goAway(lastStream: Int32, reason: String) {
    var data: [UInt8] = Array("{\"reason\":".utf8)
    data.appendJSONString(reason)
    data.append(UInt8(ascii: "}"))
    unsafe nghttp2_submit_goaway(
      session, UInt8(NGHTTP2_FLAG_NONE.rawValue), lastStream, NGHTTP2_NO_ERROR.rawValue, data,
      data.count)
  }

  func answer(_ stream: Int32, _ answer: Answer) {
    guard isOpen(stream) else { return }
    if !answer.body.isEmpty { streams.willAnswer(stream, body: answer.body) }
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

  /// The one answer of sink mode, made without allocation.
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
