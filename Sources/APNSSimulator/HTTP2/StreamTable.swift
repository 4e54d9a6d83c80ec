/// The data gathered by the callbacks of one HTTP/2 session.
///
/// Callbacks only fill this table. The connection empties it after nghttp2 has returned, so no code
/// re-enters the session.
final class StreamTable {
  /// The number of body bytes that are kept; a request that exceeds it is answered before its end.
  static let maximumBodyBytes = 65_536

  private let isSink: Bool
  private var requests: [Int32: PushRequest] = [:]
  private var bodies: [Int32: ArraySlice<UInt8>] = [:]

  /// Streams whose request is complete or too large to wait for, in the order of completion.
  private(set) var ready: [Int32] = []

  init(isSink: Bool) {
    self.isSink = isSink
  }

  func takeReady() -> [Int32] {
    defer { ready.removeAll(keepingCapacity: true) }
    return ready
  }

  /// Returns a request once; nil in sink mode, except for control calls.
  func takeRequest(_ stream: Int32) -> PushRequest? {
    requests.isEmpty ? nil : requests.removeValue(forKey: stream)
  }

  func began(_ stream: Int32) {
    requests[stream] = PushRequest()
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
    if !requests.isEmpty { requests[stream] = nil }
    if !bodies.isEmpty { bodies[stream] = nil }
  }

  func willAnswer(_ stream: Int32, body: [UInt8]) {
    bodies[stream] = body[...]
  }

  /// Returns the next part of an answer's body, and whether it is the last.
  func takeBody(_ stream: Int32, atMost limit: Int) -> (part: ArraySlice<UInt8>, isLast: Bool) {
    let rest = bodies[stream] ?? []
    bodies[stream] = rest.dropFirst(limit)
    return (rest.prefix(limit), rest.count <= limit)
  }
}
