import Base
import RideCore
import Synchronization

@testable import PushClient

/// One connection of a case: a client with pushes, and a server that sends arbitrary bytes.
final class ServerScript {
  private let session: HTTP2Session
  private var chance: Chance
  /// Whether the server complies with HTTP/2, so that each response must arrive as it was sent.
  private let isCalm: Bool
  private let ended = Ended()
  private var clock: Int64 = 1_000_000_000
  private var submitted: [UInt64] = []
  private var promised: [UInt64: Int] = [:]
  private var answered: Set<Int32> = []
  private var isLost = false
  /// The outcomes that occurred, to verify the test itself.
  private(set) var seen: Set<String> = []

  /// The outcomes of each push.
  private final class Ended: Sendable {
    let outcomes = Mutex<[UInt64: [PushOutcome]]>([:])

    func add(_ ticket: UInt64, _ outcome: PushOutcome) {
      outcomes.withLock { $0[ticket, default: []].append(outcome) }
    }
  }

  init(_ chance: inout Chance, isCalm: Bool = false) throws {
    self.isCalm = isCalm
    var settings = HTTP2Session.Machine.Settings()
    settings.maxStreams = chance.number(1...20)
    settings.timeoutsInARow = chance.number(1...4)
    self.chance = chance
    session = try HTTP2Session(
      settings: settings,
      headers: HeaderBlock(authority: "api.example", authorization: Array("bearer x".utf8)),
      at: MonotonicTime(nanoseconds: clock), wall: Timestamp(epochSeconds: 1_800_000_000))
  }

  private var now: MonotonicTime { MonotonicTime(nanoseconds: clock) }

  func run() throws {
    var bytes: [UInt8] = []
    if isCalm || chance.percent(80) { bytes = Frames.settings(settings()) + Frames.settingsTaken }
    for _ in 0..<chance.number(1...20) where !isLost {
      try submit()
      if isCalm || chance.percent(80) { try flush() }
      for _ in 0..<chance.number(0...4) { bytes += isCalm || chance.percent(60) ? calm() : wild() }
      if !isCalm, chance.percent(10) { bytes = Self.mutation.mutate(bytes, &chance) }
      if !isCalm, chance.percent(5) { bytes += chance.bytes(upTo: 100) }
      // The received bytes may end in the middle of a frame.
      let size = isCalm || chance.percent(80) ? bytes.count : chance.number(0...bytes.count)
      receive(Array(bytes.prefix(size)))
      bytes.removeFirst(size)
      try flush()
      if !isCalm { pass() }
      settle()
    }
    if isCalm { try require(!isLost, "a server that kept to HTTP/2 was left") }
  }

  /// Declares the connection lost; after that every push must have ended once.
  func end() throws(Fuzz.Fault) {
    lose("the end")
    settle()
    try require(session.machine.streams.count == 0, "streams of a lost connection")
    let outcomes = ended.outcomes.withLock { $0 }
    for ticket in submitted {
      let ends = outcomes[ticket] ?? []
      try require(ends.count == 1, "push \(ticket) of \(submitted.count) ended by \(ends)")
      seen.formUnion(ends.map(Self.word))
    }
    try require(outcomes.count == submitted.count, "a push that nobody submitted ended")
    for (ticket, status) in promised {
      let wanted = outcomes[ticket]?.first
      switch wanted {
      case .accepted where status == 200: continue
      case .refused(let refusal) where refusal.status == status: continue
      // The push would be retried on another connection, which this case does not have.
      case .unsent(.turnedAway(let refusal)) where refusal.status == status: continue
      default: throw Fuzz.Fault(text: "\(status) became \(String(describing: wanted))")
      }
    }
  }

  private static func word(_ outcome: PushOutcome) -> String {
    switch outcome {
    case .accepted: "accepted"
    case .refused: "refused"
    case .unsent(.noConnection): "not sent"
    case .unsent(.goAway): "GOAWAY"
    case .unsent(.refusedStream): "REFUSED_STREAM"
    case .unsent(.queuedTooLong): "queued too long"
    case .unsent: "something else"
    case .unanswered(.timeout): "timeout"
    case .unanswered(.connectionLost): "lost"
    case .unanswered(.reset): "reset"
    }
  }

  // MARK: The client

  private func submit() throws {
    let count = min(chance.number(0...6), session.machine.capacity(at: now))
    if count == 0 { return }
    let first = UInt64(submitted.count)
    let requests = try (0..<count).map { try request(first + UInt64($0)) }
    let submission = Submission(requests) { [ended] reports in
      for report in reports { ended.add(report.ticket, report.outcome) }
    }
    for index in requests.indices {
      submitted.append(requests[index].ticket)
      let deadline = now + .milliseconds(chance.number(1...20_000))
      session.submit(
        QueuedRequest(
          push: QueuedPush(submission: submission, index: index), order: requests[index].ticket,
          deadline: deadline), at: now)
    }
  }

  private func request(_ ticket: UInt64) throws(Fuzz.Fault) -> PushRequest {
    guard let token = DeviceToken("c0ffee") else { throw Fuzz.Fault(text: "a token of digits") }
    let headers = PushHeaders(
      id: PushID(of: "\(ticket)"), topic: "com.example", pushType: .alert, priority: .immediate,
      expiration: .neverStore)
    let payload = [UInt8](repeating: 0x20, count: chance.pick(0, 1, 100, 4096))
    return PushRequest(
      ticket: ticket, network: .production, address: .device(token), headers: headers,
      payload: payload)
  }

  private func flush() throws(Fuzz.Fault) {
    var pieces = 0
    do throws(CurlError) {
      while !isLost, unsafe try !session.nextOutput().isEmpty {
        pieces += 1
        if pieces > 20_000 { break }
      }
    } catch { lose(error.text) }
    try require(pieces <= 20_000, "output without an end")
    if isCalm || chance.percent(80) { session.sent = session.produced }
    if session.isDead, !session.machine.isFinished { lose("the server broke HTTP/2") }
  }

  private func receive(_ bytes: [UInt8]) {
    if isLost || bytes.isEmpty { return }
    session.machine.received(at: now)
    unsafe bytes.withUnsafeBytes { bytes in
      do throws(CurlError) { unsafe try session.receive(bytes) } catch { lose(error.text) }
    }
  }

  private func pass() {
    clock += chance.number(0...3_000_000_000)
    session.endTimedOut(at: now)
    let due = session.machine.due(at: now)
    if due.sendsPing { session.ping() }
    if let why = due.lost { lose(why) }
    if chance.percent(2) { session.machine.drain("closed") }
  }

  private func lose(_ why: String) {
    isLost = true
    for ending in session.machine.lost(why, sent: session.sent, wall: session.wall) {
      session.finish(ending)
    }
  }

  private func settle() {
    session.events.removeAll()
    for (queued, cause) in session.returned { ended.add(queued.push.ticket, .unsent(cause)) }
    session.returned.removeAll()
    session.reports.deliver()
  }
}

// The server's side.
extension ServerScript {
  private static let mutation = Mutation([
    [0, 0, 0], [0, 0, 0, 4, 0, 0, 0, 0, 0], [0xff, 0xff, 0xff], [0x88], [0x80], [0x3f, 0xe1, 0x1f],
    [0x7f, 0xff, 0xff, 0xff], [0, 0, 0, 1], [0, 0, 0, 3],
  ])

  private static let codes: [UInt32] = [0, 1, 2, 3, 7, 8, 11, 13, 0xffff_ffff]

  private var open: [(id: Int32, ticket: UInt64)] {
    let streams = session.machine.streams
    return streams.used.compactMap { slot in
      guard let id = streams.id(in: slot), let stream = streams[slot] else { return nil }
      return (id, stream.queued.push.ticket)
    }
  }

  private func settings() -> [(id: UInt16, value: UInt32)] {
    [(3, isCalm ? chance.number(1...100) : chance.pick(0, 1, 100, .max))]
      + (isCalm
        ? [] : chance.list(upTo: 3) { ($0.number(0...9), $0.pick(0, 1, 65_535, 1 << 14, .max)) })
  }

  /// Returns a whole response for a stream that has none yet.
  private func calm() -> [UInt8] {
    guard let (id, ticket) = open.first(where: { !answered.contains($0.id) }) else {
      return chance.pick(
        Frames.ping(answer: false), Frames.windowUpdate(0, by: 1000),
        Frames.settings(settings()), Frames.frame(0x42, [1, 2, 3]))
    }
    answered.insert(id)
    let status = chance.pick(200, 200, 200, 400, 403, 404, 410, 413, 429, 500, 503, 599, 204)
    if isCalm { promised[ticket] = status }
    let body = body()
    var bytes: [UInt8] = []
    if chance.percent(20) { bytes += Frames.headers(id, [(":status", "103")], ends: false) }
    let isBare = chance.percent(20)
    bytes += Frames.headers(id, [(":status", "\(status)")] + fields(), ends: isBare)
    if isBare { return bytes }
    let hasTrailers = chance.percent(20)
    bytes += Frames.data(id, body, ends: !hasTrailers)
    if hasTrailers {
      bytes += Frames.headers(id, [("x-end", "1"), (":status", "200")], ends: true)
    }
    return bytes
  }

  private func fields() -> [(name: String, value: String)] {
    chance.list(upTo: 3) { chance in
      chance.pick(
        ("apns-id", "1"), ("retry-after", "5"), ("Retry-After", "\u{0}"), ("", ""), ("x", "ü"),
        ("content-length", "7"), ("connection", "close"), (":path", "/"), ("retry-after", ""))
    }
  }

  private static let bodies = [
    #"{"reason":"BadDeviceToken"}"#, #"{"reason":"Shutdown"}"#, "",
    #"{"reason":"ExpiredProviderToken"}"#, #"{"reason":"#, "<html>",
    String(repeating: "x", count: 9000),
  ].map { Array($0.utf8) }

  private func body() -> [UInt8] { chance.pick(of: Self.bodies, else: []) }

  /// Returns one frame that is valid somewhere, but perhaps not at this point.
  private func wild() -> [UInt8] {
    let id = stream()
    switch chance.number(0...13) {
    case 0: return Frames.settings(settings())
    case 1: return Frames.settingsTaken
    case 2: return Frames.ping(answer: chance.percent(50))
    case 3: return Frames.windowUpdate(chance.pick(0, id), by: chance.pick(0, 1, 65_535, .max))
    case 4: return Frames.reset(id, code: chance.pick(of: Self.codes, else: 0))
    case 5 where chance.percent(30):
      return Frames.goAway(
        last: chance.pick(0, id, .max, -1), code: chance.pick(of: Self.codes, else: 0), body())
    case 6: return Frames.data(id, body(), ends: chance.percent(50))
    case 7:
      let headers = Frames.headers(id, [(":status", "200")] + fields(), ends: chance.percent(50))
      return headers + headers
    case 8:
      return Frames.frame(
        chance.number(0...12), flags: chance.number(0...255), stream: id, chance.bytes(upTo: 20))
    default:
      let status = chance.pick("200", "200", "410", "429", "503", "103", "", "abc")
      let isBare = chance.percent(30)
      let headers = Frames.headers(id, [(":status", status)] + fields(), ends: isBare)
      return isBare ? headers : headers + Frames.data(id, body(), ends: chance.percent(80))
    }
  }

  /// Returns a stream ID, mostly of one that waits for a response.
  private func stream() -> Int32 {
    let ids = open.map(\.id)
    if !ids.isEmpty, chance.percent(90) { return chance.pick(of: ids, else: 0) }
    return chance.pick(0, 1, 2, 3, 5, 101, .max, -1)
  }
}
