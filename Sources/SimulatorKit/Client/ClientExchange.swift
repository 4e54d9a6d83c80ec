import CNghttp2

/// The request that a client has sent, and what has arrived of its answer.
final class ClientExchange {
  enum Outcome: Equatable {
    case answered
    case reset(UInt32)
  }

  var stream: Int32 = 0
  private(set) var outcome: Outcome?
  var receivedGoAway = false
  private var rest: ArraySlice<UInt8> = []
  private var headers: [Header] = []
  private var body: [UInt8] = []

  func begin(body: [UInt8]) {
    stream = 0
    outcome = nil
    rest = body[...]
    headers = []
    self.body = []
  }

  func answer() throws(ClientError) -> Answer {
    if case .reset(let code) = outcome {
      let name = ErrorCode(rawValue: code)?.name ?? "\(code)"
      throw ClientError(description: "the stream was reset with \(name)")
    }
    let status = headers.first { $0.name == ":status" }.flatMap { Int($0.value) }
    guard let status else { throw ClientError(description: "the answer has no status") }
    return Answer(
      status: status, headers: headers.filter { $0.name != ":status" }, body: body)
  }

  func received(_ header: Header, on stream: Int32) {
    if stream == self.stream { headers.append(header) }
  }

  func received(_ chunk: some Collection<UInt8>, on stream: Int32) {
    if stream == self.stream { body += chunk }
  }

  func closed(_ stream: Int32, _ code: UInt32) {
    if stream == self.stream { outcome = code == 0 ? .answered : .reset(code) }
  }

  func takeBody(atMost limit: Int) -> (part: ArraySlice<UInt8>, isLast: Bool) {
    defer { rest = rest.dropFirst(limit) }
    return (rest.prefix(limit), rest.count <= limit)
  }
}

/// The callbacks of a client's session; they only fill its exchange.
enum ClientCallbacks {
  /// Returns nil if memory is exhausted; the exchange must outlive the session.
  static func session(for exchange: ClientExchange) -> OpaquePointer? {
    var made: OpaquePointer?
    guard unsafe nghttp2_session_callbacks_new(&made) == 0, let callbacks = unsafe made else {
      return nil
    }
    defer { unsafe nghttp2_session_callbacks_del(callbacks) }
    unsafe nghttp2_session_callbacks_set_on_header_callback(callbacks, onHeader)
    unsafe nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, onData)
    unsafe nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, onClose)
    unsafe nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, onFrame)
    let table = unsafe Unmanaged.passUnretained(exchange).toOpaque()
    var session: OpaquePointer?
    return unsafe nghttp2_session_client_new(&session, callbacks, table) == 0 ? session : nil
  }
}

private func exchange(_ pointer: UnsafeMutableRawPointer) -> ClientExchange {
  unsafe Unmanaged<ClientExchange>.fromOpaque(pointer).takeUnretainedValue()
}

private let onHeader: nghttp2_on_header_callback = {
  _, frame, name, nameLength, value, valueLength, _, data in
  guard let frame = unsafe frame, let data = unsafe data else { return 0 }
  let header = Header(
    name: unsafe String(
      decoding: UnsafeBufferPointer(start: name, count: nameLength), as: UTF8.self),
    value: unsafe String(
      decoding: UnsafeBufferPointer(start: value, count: valueLength), as: UTF8.self))
  unsafe exchange(data).received(header, on: frame.pointee.hd.stream_id)
  return 0
}

private let onData: nghttp2_on_data_chunk_recv_callback = { _, _, stream, bytes, count, data in
  if let data = unsafe data {
    unsafe exchange(data).received(UnsafeBufferPointer(start: bytes, count: count), on: stream)
  }
  return 0
}

private let onClose: nghttp2_on_stream_close_callback = { _, stream, code, data in
  if let data = unsafe data { unsafe exchange(data).closed(stream, code) }
  return 0
}

private let onFrame: nghttp2_on_frame_recv_callback = { _, frame, data in
  guard let frame = unsafe frame, let data = unsafe data else { return 0 }
  if unsafe frame.pointee.hd.type == NGHTTP2_GOAWAY.rawValue {
    unsafe exchange(data).receivedGoAway = true
  }
  return 0
}

let readRequestBody: nghttp2_data_source_read_callback = {
  _, _, buffer, capacity, flags, _, data in
  guard let data = unsafe data, let buffer = unsafe buffer, let flags = unsafe flags else {
    return Int(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue)
  }
  let next = unsafe exchange(data).takeBody(atMost: capacity)
  for (index, byte) in next.part.enumerated() { unsafe buffer[index] = byte }
  if next.isLast { unsafe flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
  return next.part.count
}
