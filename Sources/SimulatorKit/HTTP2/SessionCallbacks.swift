import CNghttp2

/// nghttp2's callback table and options, created once for all sessions.
@safe final class SessionCallbacks {
  let isSink: Bool
  let refusesIdlePings: Bool
  let callbacks: OpaquePointer
  let options: OpaquePointer

  /// Returns nil if memory is exhausted.
  init?(isSink: Bool, refusesIdlePings: Bool) {
    var callbacks: OpaquePointer?
    var options: OpaquePointer?
    guard unsafe nghttp2_session_callbacks_new(&callbacks) == 0,
      unsafe nghttp2_option_new(&options) == 0,
      let callbacks = unsafe callbacks, let options = unsafe options
    else { return nil }
    self.isSink = isSink
    self.refusesIdlePings = refusesIdlePings
    unsafe self.callbacks = callbacks
    unsafe self.options = options
    // nghttp2 keeps closed streams only for the old priority tree, which no simulated service uses.
    unsafe nghttp2_option_set_no_closed_streams(options, 1)
    unsafe nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, onFrame)
    unsafe nghttp2_session_callbacks_set_on_header_callback(
      callbacks, isSink ? onSinkHeader : onHeader)
    unsafe nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, onClose)
    if !isSink {
      unsafe nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, onBeginHeaders)
      unsafe nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, onData)
      unsafe nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, onSent)
    }
  }

  deinit {
    unsafe nghttp2_option_del(options)
    unsafe nghttp2_session_callbacks_del(callbacks)
  }
}

private func table(_ pointer: UnsafeMutableRawPointer) -> StreamTable {
  unsafe Unmanaged<StreamTable>.fromOpaque(pointer).takeUnretainedValue()
}

private func isRequest(_ frame: UnsafePointer<nghttp2_frame>) -> Bool {
  unsafe frame.pointee.hd.type == NGHTTP2_HEADERS.rawValue
    && frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST
}

private let onBeginHeaders: nghttp2_on_begin_headers_callback = { _, frame, data in
  if let frame = unsafe frame, let data = unsafe data, unsafe isRequest(frame) {
    unsafe table(data).began(frame.pointee.hd.stream_id)
  }
  return 0
}

private let onHeader: nghttp2_on_header_callback = {
  _, frame, name, nameLength, value, valueLength, _, data in
  guard let frame = unsafe frame, let data = unsafe data, unsafe isRequest(frame) else { return 0 }
  let header = Header(
    name: unsafe String(
      decoding: UnsafeBufferPointer(start: name, count: nameLength), as: UTF8.self),
    value: unsafe String(
      decoding: UnsafeBufferPointer(start: value, count: valueLength), as: UTF8.self))
  unsafe table(data).received(header, on: frame.pointee.hd.stream_id)
  return 0
}

/// Sink mode examines no header except the path of a control call.
private let onSinkHeader: nghttp2_on_header_callback = {
  _, frame, name, nameLength, value, valueLength, _, data in
  guard nameLength == 5, valueLength > 1, let value = unsafe value,
    unsafe value[1] == UInt8(ascii: "s"),
    let frame = unsafe frame, let data = unsafe data, unsafe isRequest(frame),
    unsafe UnsafeBufferPointer(start: name, count: nameLength).elementsEqual(":path".utf8)
  else { return 0 }
  let path = unsafe String(
    decoding: UnsafeBufferPointer(start: value, count: valueLength), as: UTF8.self)
  let streams = unsafe table(data)
  unsafe streams.began(frame.pointee.hd.stream_id)
  unsafe streams.received(Header(name: ":path", value: path), on: frame.pointee.hd.stream_id)
  return 0
}

private let onData: nghttp2_on_data_chunk_recv_callback = { _, _, stream, bytes, count, data in
  if let data = unsafe data {
    unsafe table(data).received(UnsafeBufferPointer(start: bytes, count: count), on: stream)
  }
  return 0
}

private let onFrame: nghttp2_on_frame_recv_callback = { _, frame, data in
  guard let frame = unsafe frame, let data = unsafe data else { return 0 }
  let head = unsafe frame.pointee.hd
  if head.type == NGHTTP2_GOAWAY.rawValue {
    unsafe table(data).receivedGoAway = unsafe GoAway(frame.pointee.goaway)
  }
  if head.type == NGHTTP2_PING.rawValue, head.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) == 0 {
    unsafe table(data).pinged()
  }
  let carriesRequest =
    head.type == NGHTTP2_DATA.rawValue || head.type == NGHTTP2_HEADERS.rawValue
  if carriesRequest, head.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0 {
    unsafe table(data).ended(head.stream_id)
  }
  return 0
}

/// nghttp2 itself sends GOAWAY to a client that violates the protocol.
private let onSent: nghttp2_on_frame_send_callback = { _, frame, data in
  guard let frame = unsafe frame, let data = unsafe data,
    unsafe frame.pointee.hd.type == NGHTTP2_GOAWAY.rawValue
  else { return 0 }
  unsafe table(data).sentGoAway = unsafe GoAway(frame.pointee.goaway)
  return 0
}

private let onClose: nghttp2_on_stream_close_callback = { _, stream, _, data in
  if let data = unsafe data { unsafe table(data).closed(stream) }
  return 0
}

/// nghttp2 calls this for the body of an answer when it has room to send it.
let readAnswerBody: nghttp2_data_source_read_callback = {
  _, stream, buffer, capacity, flags, _, data in
  guard let data = unsafe data, let buffer = unsafe buffer, let flags = unsafe flags else {
    return Int(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue)
  }
  let next = unsafe table(data).takeBody(stream, atMost: capacity)
  // nghttp2 then resets the stream with INTERNAL_ERROR.
  if next.part.isEmpty, next.isBroken {
    return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue)
  }
  for (index, byte) in next.part.enumerated() { unsafe buffer[index] = byte }
  if next.isLast, !next.isBroken { unsafe flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
  return next.part.count
}

/// A GOAWAY frame that was sent or received.
struct GoAway: Equatable {
  let code: UInt32
  let text: String

  init(_ frame: nghttp2_goaway) {
    code = unsafe frame.error_code
    let bytes = unsafe UnsafeBufferPointer(
      start: frame.opaque_data, count: frame.opaque_data_len)
    text = unsafe String(decoding: bytes, as: UTF8.self)
  }

  var description: String {
    let name = ErrorCode(rawValue: code)?.name ?? "\(code)"
    return "GOAWAY \(name)" + (text.isEmpty ? "" : " \(text)")
  }
}

/// The data gathered by the callbacks of one HTTP/2 session.
///
/// Callbacks only fill this table. The connection empties it after nghttp2 has returned, so no code
/// re-enters the session.
final class StreamTable {
  /// The number of body bytes that are kept; a request that exceeds it is answered before its end.
  static let maximumBodyBytes = 65_536

  private let isSink: Bool
  private var requests: [Int32: Request] = [:]
  private var bodies: [Int32: ArraySlice<UInt8>] = [:]
  /// Streams whose body breaks off where it ends.
  private var broken: Set<Int32> = []
  private var openStreams = 0
  /// True if the client pinged twice without an open stream, or thrice, and nothing was asked or
  /// answered in between.
  var hasIdlePings: Bool { pingWeight > 2 }
  private var pingWeight = 0

  /// Streams whose request is complete or too large to wait for, in the order of completion.
  private(set) var ready: [Int32] = []

  var receivedGoAway: GoAway?
  var sentGoAway: GoAway?

  init(isSink: Bool) {
    self.isSink = isSink
  }

  func takeReady() -> [Int32] {
    defer { ready.removeAll(keepingCapacity: true) }
    return ready
  }

  /// Returns a request once; nil in sink mode, except for control calls.
  func takeRequest(_ stream: Int32) -> Request? {
    requests.isEmpty ? nil : requests.removeValue(forKey: stream)
  }

  func completed(_ request: Request, _ stream: Int32) {
    requests[stream] = request
    ready.append(stream)
  }

  func began(_ stream: Int32) {
    requests[stream] = Request()
    openStreams += 1
    pingWeight = 0
  }

  func pinged() {
    // One ping without a stream may have crossed the last answer.
    pingWeight += openStreams == 0 ? 2 : 1
  }

  func received(_ header: Header, on stream: Int32) {
    requests[stream]?.headers.append(header)
  }

  func received(_ chunk: some Collection<UInt8>, on stream: Int32) {
    guard let before = requests[stream]?.bodyBytes else { return }
    requests[stream]?.bodyBytes += chunk.count
    let room = Self.maximumBodyBytes - before
    if room > 0 { requests[stream]?.body.append(contentsOf: chunk.prefix(room)) }
    if before <= Self.maximumBodyBytes, before + chunk.count > Self.maximumBodyBytes {
      ready.append(stream)
    }
  }

  func ended(_ stream: Int32) {
    if isSink || requests[stream] != nil { ready.append(stream) }
  }

  func closed(_ stream: Int32) {
    openStreams = max(0, openStreams - 1)
    pingWeight = 0
    if !requests.isEmpty { requests[stream] = nil }
    if !bodies.isEmpty { bodies[stream] = nil }
    if !broken.isEmpty { broken.remove(stream) }
  }

  func willAnswer(_ stream: Int32, body: [UInt8], isWhole: Bool) {
    bodies[stream] = isWhole ? body[...] : body.prefix(body.count / 2)
    if !isWhole { broken.insert(stream) }
  }

  /// Returns the next part of an answer's body, whether it is the last, and whether the body breaks
  /// off after it.
  func takeBody(
    _ stream: Int32, atMost limit: Int
  ) -> (part: ArraySlice<UInt8>, isLast: Bool, isBroken: Bool) {
    let rest = bodies[stream] ?? []
    bodies[stream] = rest.dropFirst(limit)
    return (rest.prefix(limit), rest.count <= limit, broken.contains(stream))
  }
}
