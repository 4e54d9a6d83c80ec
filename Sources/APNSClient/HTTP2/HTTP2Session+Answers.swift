import CNghttp2
import RideCore

/// Passes the events of nghttp2's callbacks to the state machine.
extension HTTP2Session {
  /// Copies the next piece of a push's body; returns nil if its stream has ended.
  func readBody(slot: Int, id: Int32, into room: UnsafeMutableRawBufferPointer)
    -> (count: Int, isWhole: Bool)?
  {
    let produced = produced
    return machine.streams.update(slot, id: id) { stream in
      let push = stream.waiting.push
      if stream.bodyStart == nil { stream.bodyStart = produced }
      let start = stream.bodyOffset
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
    var reason = unsafe ReasonBody(Array(data.prefix(Answer.bodyLimit)))?.reason
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
    guard let slot = machine.streams.used.first(where: { machine.streams[$0]?.id == id }),
      let ending = machine.notSent(slot, id: id)
    else { return }
    finish(ending)
  }

  private static func errorName(_ code: UInt32) -> String {
    code == 0 ? "NO_ERROR" : unsafe String(cString: nghttp2_http2_strerror(code))
  }
}
