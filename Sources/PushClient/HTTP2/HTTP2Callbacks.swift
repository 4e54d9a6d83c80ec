import CNghttp2
import RideCore

// nghttp2 calls these functions from within `nextOutput` and `receive`, on the session's own
// thread. Each finds the session by the pointer registered with it, whose owner keeps the session
// alive, and the push by the slot number, which is the stream's user data plus one (nil means
// none).

func makeCallbacks() -> OpaquePointer? {
  var callbacks: OpaquePointer?
  guard unsafe nghttp2_session_callbacks_new(&callbacks) == 0 else { return nil }
  unsafe nghttp2_session_callbacks_set_on_header_callback(callbacks, onHeader)
  unsafe nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, onData)
  unsafe nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, onFrame)
  unsafe nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, onClose)
  unsafe nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks, onNotSent)
  return unsafe callbacks
}

private func owner(_ anchor: UnsafeMutableRawPointer?) -> HTTP2Session? {
  unsafe anchor.map { unsafe Unmanaged<HTTP2Session>.fromOpaque($0).takeUnretainedValue() }
}

private func slot(_ session: OpaquePointer?, _ id: Int32) -> Int {
  unsafe Int(bitPattern: nghttp2_session_get_stream_user_data(session, id)) - 1
}

func onReadBody(
  _: OpaquePointer?, id: Int32, room: UnsafeMutablePointer<UInt8>?, length: Int,
  flags: UnsafeMutablePointer<UInt32>?, source: UnsafeMutablePointer<nghttp2_data_source>?,
  anchor: UnsafeMutableRawPointer?
) -> Int {
  let gone = Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue)
  guard let owner = unsafe owner(anchor), let room = unsafe room,
    let slot = unsafe source?.pointee.fd
  else { return gone }
  let target = unsafe UnsafeMutableRawBufferPointer(start: room, count: length)
  guard let (count, isWhole) = unsafe owner.readBody(slot: Int(slot), id: id, into: target) else {
    return gone
  }
  if isWhole { unsafe flags?.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
  return count
}

private func onHeader(
  session: OpaquePointer?, frame: UnsafePointer<nghttp2_frame>?, name: UnsafePointer<UInt8>?,
  nameLength: Int, value: UnsafePointer<UInt8>?, valueLength: Int, _: UInt8,
  anchor: UnsafeMutableRawPointer?
) -> Int32 {
  // Only "date", ":status", "retry-after" and "apns-unique-id" matter; most other names differ from
  // them in length.
  guard nameLength == 4 || nameLength == 7 || nameLength == 11 || nameLength == 14,
    let owner = unsafe owner(anchor), let id = unsafe frame?.pointee.hd.stream_id
  else { return 0 }
  unsafe owner.header(
    slot: slot(session, id), id: id,
    name: UnsafeBufferPointer(start: name, count: nameLength),
    value: UnsafeBufferPointer(start: value, count: valueLength))
  return 0
}

private func onData(
  session: OpaquePointer?, _: UInt8, id: Int32, bytes: UnsafePointer<UInt8>?, length: Int,
  anchor: UnsafeMutableRawPointer?
) -> Int32 {
  unsafe owner(anchor)?.data(
    slot: slot(session, id), id: id, piece: UnsafeBufferPointer(start: bytes, count: length))
  return 0
}

private func onFrame(
  session: OpaquePointer?, frame: UnsafePointer<nghttp2_frame>?, anchor: UnsafeMutableRawPointer?
) -> Int32 {
  guard let owner = unsafe owner(anchor), let frame = unsafe frame else { return 0 }
  let header = unsafe frame.pointee.hd
  switch UInt32(header.type) {
  case NGHTTP2_HEADERS.rawValue, NGHTTP2_DATA.rawValue:
    let ends = UInt32(header.flags) & NGHTTP2_FLAG_END_STREAM.rawValue != 0
    // The answer ended before the request body was sent: cancel the rest of the body.
    if ends, unsafe nghttp2_session_get_stream_local_close(session, header.stream_id) == 0 {
      owner.reset(header.stream_id, code: UInt32(NGHTTP2_NO_ERROR.rawValue))
    }
  case NGHTTP2_SETTINGS.rawValue where UInt32(header.flags) & NGHTTP2_FLAG_ACK.rawValue == 0:
    let limit = unsafe nghttp2_session_get_remote_settings(
      session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS)
    owner.limited(to: Int(limit))
  case NGHTTP2_GOAWAY.rawValue:
    let away = unsafe frame.pointee.goaway
    let text = unsafe UnsafeBufferPointer(start: away.opaque_data, count: away.opaque_data_len)
    unsafe owner.wentAway(lastStream: away.last_stream_id, code: away.error_code, data: text)
  default: break
  }
  return 0
}

private func onClose(
  session: OpaquePointer?, id: Int32, code: UInt32, anchor: UnsafeMutableRawPointer?
) -> Int32 {
  unsafe owner(anchor)?.closed(slot: slot(session, id), id: id, code: code)
  return 0
}

private func onNotSent(
  _: OpaquePointer?, frame: UnsafePointer<nghttp2_frame>?, _: Int32,
  anchor: UnsafeMutableRawPointer?
) -> Int32 {
  guard let header = unsafe frame?.pointee.hd, UInt32(header.type) == NGHTTP2_HEADERS.rawValue
  else { return 0 }
  unsafe owner(anchor)?.notSent(id: header.stream_id)
  return 0
}
