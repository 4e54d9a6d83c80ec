import CNghttp2

/// An nghttp2 server session: consumes and produces bytes, and puts requests in its table.
@safe final class Session {
  let streams: StreamTable
  private let session: OpaquePointer

  /// Returns nil if memory is exhausted.
  init?(maximumStreams: Int, callbacks: SessionCallbacks) {
    streams = StreamTable(isSink: callbacks.isSink)
    // The table outlives the session: this object owns both, and deinit ends the session.
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

  /// Processes received bytes; returns false if the peer violated the protocol beyond recovery.
  func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
    let start = unsafe bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
    return unsafe nghttp2_session_mem_recv(session, start, bytes.count) >= 0
  }

  /// Returns the next frame to send, valid until the next call; nil means that an error ended the
  /// session.
  func nextOutput() -> UnsafeBufferPointer<UInt8>? {
    var start: UnsafePointer<UInt8>?
    let count = unsafe nghttp2_session_mem_send(session, &start)
    return unsafe count < 0 ? nil : UnsafeBufferPointer(start: start, count: count)
  }

  /// True after GOAWAY when the last open stream has ended.
  var isOver: Bool {
    unsafe nghttp2_session_want_read(session) == 0 && nghttp2_session_want_write(session) == 0
  }

  /// Returns false if the client has reset the stream; a delayed answer then has no receiver.
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

  /// Sends the one answer of sink mode, without allocation.
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
