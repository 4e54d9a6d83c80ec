import Base
package import RideCore
internal import Synchronization

/// One open connection without a socket, whose server accepts every push.
///
/// `make cost` measures with it what the frames of a push and of its answer cost.
package final class FrameReplay {
  private let session: HTTP2Session
  private let output = OutputBuffer()
  private let accepted = Counter()
  private let provider: Provider
  private var nextStream: Int32 = 1
  private var order: UInt64 = 0
  private let start = MonotonicTime(nanoseconds: 1_000_000_000)

  private final class Counter: Sendable {
    private let count = Mutex(0)

    var value: Int { count.withLock { $0 } }

    func add(_ more: Int) { count.withLock { $0 += more } }
  }

  /// - Parameter network: What the connection leads to.
  package init(to network: PushNetwork = .production) throws {
    provider = network.provider
    session = try HTTP2Session(
      settings: ConnectionSettings(APNsConfiguration(), provider),
      headers: Self.headers(to: provider), at: start,
      wall: Timestamp(epochSeconds: 1_795_248_000))
    // SETTINGS: at most 1,000 streams.
    try receive([0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 3, 0xe8])
    // WINDOW_UPDATE: no push waits for another one's body to be read.
    try receive([0, 0, 4, 8, 0, 0, 0, 0, 0, 0x7f, 0, 0, 0])
    _ = try flush()
  }

  private static func headers(to provider: Provider) -> HeaderBlock {
    switch provider {
    case .apns:
      let token = "bearer " + String(repeating: "x", count: 194)
      return HeaderBlock(authority: "api.push.apple.com", authorization: Array(token.utf8))
    case .fcm:
      let token = "Bearer ya29." + String(repeating: "x", count: 1000)
      return HeaderBlock(
        authority: "fcm.googleapis.com", authorization: Array(token.utf8),
        path: "/v1/projects/rides/messages:send")
    }
  }

  /// Opens a stream for each push, produces all frames, and delivers the answers.
  ///
  /// - Returns: The bytes of the frames, and the number of accepted pushes.
  package func send(_ requests: [PushRequest]) throws -> (bytes: Int, accepted: Int) {
    let before = accepted.value
    let submission = Submission(requests) { [accepted] reports in
      accepted.add(reports.count { $0.outcome == .accepted })
    }
    let first = nextStream
    for index in requests.indices {
      order += 1
      session.submit(
        QueuedRequest(
          push: QueuedPush(submission: submission, index: index), order: order,
          deadline: start + .seconds(60)),
        at: start)
      nextStream += 2
    }
    let bytes = try flush()
    switch provider {
    case .apns: try receive(Self.answers(from: first, to: nextStream))
    case .fcm: try receive(Self.namedAnswers(from: first, to: nextStream))
    }
    session.reports.deliver()
    return (bytes, accepted.value - before)
  }

  /// HEADERS with END_STREAM for each stream: `:status: 200`, and an `apns-id` that is not indexed.
  private static func answers(from first: Int32, to end: Int32) -> [UInt8] {
    let block =
      [0x88, 0x00, 7] + Array("apns-id".utf8) + [36]
      + Array("11111111-2222-4333-8444-555555555555".utf8)
    var bytes: [UInt8] = []
    for stream in Swift.stride(from: first, to: end, by: 2) {
      bytes += [0, 0, UInt8(block.count), 1, 5]
      bytes += [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: stream >> $0) }
      bytes += block
    }
    return bytes
  }

  /// HEADERS with `:status: 200`, and DATA with the message's name, for each stream.
  private static func namedAnswers(from first: Int32, to end: Int32) -> [UInt8] {
    let name = "projects/rides/messages/0:1500415314455276%31bd1c9631bd1c96"
    let body = Array(#"{"name":"\#(name)"}"#.utf8)
    var bytes: [UInt8] = []
    for stream in Swift.stride(from: first, to: end, by: 2) {
      bytes += frame(type: 1, flags: 4, stream, [0x88]) + frame(type: 0, flags: 1, stream, body)
    }
    return bytes
  }

  private static func frame(
    type: UInt8, flags: UInt8, _ stream: Int32, _ payload: [UInt8]
  ) -> [UInt8] {
    [0, 0, UInt8(payload.count), type, flags]
      + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: stream >> $0) } + payload
  }

  private func receive(_ bytes: [UInt8]) throws {
    unsafe try bytes.withUnsafeBytes { bytes in unsafe try session.receive(bytes) }
  }

  /// Collects the frames into records, as a connection does before it encrypts them.
  private func flush() throws -> Int {
    var total = 0
    while true {
      while output.hasRoom {
        let bytes = unsafe try session.nextOutput()
        if unsafe bytes.isEmpty { break }
        unsafe output.append(bytes)
      }
      if output.isEmpty { return total }
      let taken = unsafe try output.offer { bytes throws(CurlError) in bytes.count }
      total += taken ?? 0
      session.sent += taken ?? 0
    }
  }
}
