import SimulatorKit

/// Sends recorded requests again, in order and on as many connections as they came by.
struct Replay {
  private let options: ReplayOptions
  /// By connection, as APNs counts their changes.
  private var tokens: [Int: ProviderTokenWriter] = [:]
  private var clients: [Int: HTTP2Client] = [:]
  private(set) var summary = ReplaySummary()

  init(_ options: ReplayOptions) {
    self.options = options
  }

  /// - Parameter report: called with a line for each answer that differs.
  mutating func run(_ records: [RecordedRequest], _ report: (String) -> Void) throws {
    let last = Dictionary(records.map { ($0.connection, $0.line) }) { $1 }
    let start = WallTime.now().fractionalSeconds
    for record in records {
      if record.wasRefusedForToken {
        summary.skipped += 1
      } else {
        wait(for: record, after: records[0], since: start)
        let answer = try send(record)
        summary.replayed += 1
        if let difference = ReplaySummary.difference(record, answer) {
          summary.different += 1
          report(difference)
        }
      }
      if last[record.connection] == record.line { close(record.connection) }
    }
  }

  private mutating func close(_ connection: Int) {
    clients[connection] = nil
    tokens[connection] = nil
  }

  /// Waits until the request is due at the speed of the options.
  private func wait(for record: RecordedRequest, after first: RecordedRequest, since start: Double)
  {
    guard let speed = options.speed else { return }
    let due = start + (record.receivedAt - first.receivedAt) / Double(speed)
    WallTime.wait(untilSeconds: due)
  }

  private mutating func send(_ record: RecordedRequest) throws -> SentAnswer {
    var request = record.request
    let client = try client(record.connection)
    let authorization = try authorization(of: record, at: WallTime.now().seconds)
    request.headers = request.headers.map { header in
      let isBearer = header.name == "authorization" && header.value.hasPrefix("bearer")
      return isBearer ? Header(name: header.name, value: authorization) : header
    }
    do throws(ClientError) {
      return SentAnswer(try client.send(request))
    } catch {
      close(record.connection)
      return SentAnswer(error)
    }
  }

  /// Returns the value of `authorization`, which may be another one after a while.
  private mutating func authorization(of record: RecordedRequest, at now: Int) throws -> String {
    var writer = tokens[record.connection]
    if writer?.isOutdated(at: now) ?? true { writer = nil }
    var current = writer ?? ProviderTokenWriter(options.sender, issuedAt: now)
    defer { tokens[record.connection] = current }
    return try current.authorization(keyID: record.keyID, teamID: record.teamID)
  }

  /// Returns the connection that stands for a recorded one; a lost one is opened again.
  private mutating func client(_ number: Int) throws -> HTTP2Client {
    if let client = clients[number], !client.isOver { return client }
    close(number)
    let client = try HTTP2Client(
      port: options.sender.port, authorityPath: options.sender.authorityPath)
    clients[number] = client
    return client
  }
}

/// How many requests were replayed, and how many answers differ.
struct ReplaySummary: Equatable {
  var replayed = 0
  var different = 0
  /// Requests that were refused for their JWT, which a record does not have.
  var skipped = 0

  var text: String {
    let requests = replayed == 1 ? "1 request" : "\(replayed) requests"
    let answers = different == 1 ? "1 answer differs" : "\(different) answers differ"
    let skipped = skipped == 0 ? "" : "; \(skipped) not sent, refused for the JWT then"
    return "\(requests) replayed, \(answers)\(skipped)"
  }

  /// Returns what differs from the recorded answer: status, reason, or whether the phone drops it.
  static func difference(_ record: RecordedRequest, _ answer: SentAnswer) -> String? {
    let isSame =
      record.status == answer.status && record.reason == answer.reason
      && (record.isDropped && record.fault == nil) == (answer.dropped != nil)
    if isSame { return nil }
    let then = text(record.status, record.reason, isDropped: record.isDropped)
    let now = text(answer.status, answer.reason, isDropped: answer.dropped != nil)
    let request = "\(record.request.method) \(record.request.path)"
    let fault = record.fault.map { " (fault \($0))" } ?? ""
    let detail = answer.detail.map { ": \($0)" } ?? ""
    return "line \(record.line): \(request): recorded \(then)\(fault), now \(now)\(detail)"
  }

  private static func text(_ status: Int, _ reason: String?, isDropped: Bool) -> String {
    if status == 0 { return "no answer" }
    return ["\(status)", reason, isDropped ? "dropped" : nil].compactMap(\.self)
      .joined(separator: " ")
  }
}
