import Base
import RideCore

/// Which of a day's rides a core replays.
package struct DayPart: Hashable, Sendable {
  package var index: Int
  package var count: Int

  package static let whole = DayPart(index: 0, count: 1)

  package init(index: Int, count: Int) {
    self.index = index
    self.count = count
  }

  func has(_ ride: some Collection<UInt8>) -> Bool {
    if count <= 1 { return true }
    var hash = StableHash()
    hash.add(ride)
    return hash.value % UInt64(count) == UInt64(index)
  }
}

/// Reads a day line by line: the header, then what happened, in the order of time.
package struct DayReader: Sendable {
  /// Nil until the first line is read.
  package private(set) var header: DayHeader?
  /// The number of lines read.
  package private(set) var lines = 0
  private var last: Timestamp?

  package init() {}

  /// Reads the next line; nil for the header, for an empty line, and for one about a ride of another
  /// part, which may stay unparsed.
  package mutating func read(
    _ text: [UInt8], of part: DayPart = .whole
  ) throws(DayProblem) -> DayLine? {
    lines += 1
    if part.count > 1, header != nil, let scan = DayScan(text), !part.has(scan.ride) {
      try check(scan.at)
      return nil
    }
    if text.allSatisfy({ $0 == 32 || $0 == 9 || $0 == 13 }) { return nil }
    let value = try parse(text)
    guard header != nil else {
      header = try DayHeader(value, line: lines)
      return nil
    }
    let line = try DayLine(value, line: lines)
    try check(line.at)
    return line
  }

  private mutating func check(_ at: Timestamp) throws(DayProblem) {
    if let last, at < last {
      throw DayProblem(
        line: lines, place: "at",
        "\(CivilTime.exact(at)) is before the line above, \(CivilTime.exact(last))",
        expected: "the lines in the order of time")
    }
    last = at
  }

  /// Counts a line without reading it.
  package mutating func skip() { lines += 1 }

  private func parse(_ text: [UInt8]) throws(DayProblem) -> JSONValue {
    do throws(JSONParser.Fault) {
      return try JSONParser.parse(text, depthLimit: 100)
    } catch {
      let column = SourceLocation(ofByte: error.offset, in: text).column
      throw DayProblem(line: lines, place: "column \(column)", "not JSON: \(error.what)")
    }
  }
}

extension DayHeader {
  fileprivate init(_ value: JSONValue, line: Int) throws(DayProblem) {
    // The version comes first: a later one may have keys that this program does not know.
    guard let version = value.value(at: ["day"]) else {
      throw DayProblem(
        line: line, "no header of a day",
        expected:
          #"a first line such as {"day":1,"from":"2026-11-21T00:00:00Z","to":"2026-11-22T00:00:00Z"}"#
      )
    }
    guard version == .integer(Self.version) else {
      let text = String(decoding: version.json, as: UTF8.self)
      throw DayProblem(
        line: line, place: "day",
        "a day of format \(text), which this version of ridepulse does not read",
        expected:
          "format \(Self.version); record the day with this version, or rehearse it with the one that recorded it"
      )
    }
    let fields = try DayFields(value, line: line, known: DayKeys.header)
    guard let from = try fields.time("from"), let to = try fields.time("to") else {
      throw fields.problem(fields.has("from") ? "to" : "from", "missing", expected: "a time")
    }
    guard from < to else { throw fields.problem("to", "not after from") }
    self.init(from: from, to: to)
    if let sample = try fields.number("sample") {
      guard sample > 0, sample <= 100 else {
        throw fields.problem(
          "sample", "\(sample) is no share", expected: "a percentage above 0, at most 100")
      }
      self.sample = sample
    }
    schedules = try fields.text("schedules")
    engine = try fields.text("engine")
  }
}

extension DayLine {
  fileprivate init(_ value: JSONValue, line: Int) throws(DayProblem) {
    let fields = try DayFields(value, line: line, known: DayKeys.line)
    guard let at = try fields.time("at") else {
      throw fields.problem("at", "missing", expected: "a time such as 2026-11-21T08:00:00Z")
    }
    let kinds = DayKeys.kinds.filter(fields.has)
    if kinds.count == 2, fields.has("event"), fields.has("ride") {
      self.init(at: at, .event(try DayEvent(fields)))
      return
    }
    guard kinds.count == 1, let kind = kinds.first, let value = fields[kind] else {
      throw DayProblem(
        line: line,
        kinds.isEmpty ? "nothing that happens" : "\(kinds.joined(separator: " and ")) in one line",
        expected: "at and one of " + DayKeys.kinds.joined(separator: ", "))
    }
    if kind != "event", fields.has("data") {
      throw fields.problem("data", "without an event", expected: "it next to event")
    }
    func inner(_ known: [String]) throws(DayProblem) -> DayFields {
      try DayFields(value, line: line, at: kind, known: known)
    }
    let content: Content
    switch kind {
    case "event": content = .event(try DayEvent(fields))
    case "ride": content = .ride(try DayRide(try inner(DayKeys.ride)))
    case "phone": content = .phone(try DayToken(try inner(DayKeys.phone)))
    case "card":
      let fields = try inner(DayKeys.card)
      let token = try DayToken(fields)
      if token.ride == nil { throw fields.problem("ride", "missing", expected: "the card's ride") }
      content = .card(token)
    case "push_to_start":
      let fields = try inner(DayKeys.pushToStart)
      content = .pushToStart(try DayToken(fields))
    case "contact":
      let fields = try inner(DayKeys.contact)
      content = .contact(
        App(rawValue: try fields.required("app")), OwnerID(try fields.required("owner_id")),
        try fields.text("installation_id").map { InstallationID($0) })
    case "seen": content = .seen(try DayPush(try inner(DayKeys.push)))
    case "preference":
      let fields = try inner(DayKeys.preference)
      guard let allowed = try fields.flag("allowed") else {
        throw fields.problem("allowed", "missing", expected: "true or false")
      }
      content = .preference(
        OptOut(
          app: App(rawValue: try fields.required("app")),
          owner: OwnerID(try fields.required("owner_id")),
          topic: Topic(try fields.required("topic"))),
        allowed: allowed)
    case "answer": content = .answer(try DayAnswer(try inner(DayKeys.answer)))
    default: content = .outcome(try DayOutcome(try inner(DayKeys.outcome)))
    }
    self.init(at: at, content)
  }
}

/// The keys of a day's lines, in the order in which they are written.
enum DayKeys {
  static let header = ["day", "from", "to", "sample", "schedules", "engine"]
  static let kinds = [
    "ride", "event", "phone", "card", "push_to_start", "contact", "seen", "preference", "answer",
    "outcome",
  ]
  static let line = ["at", "data"] + kinds
  static let ride = [
    "id", "state", "customer_id", "driver_id", "pickup_at", "time_zone", "attributes",
    "participants", "updated_at", "removed",
  ]
  static let participant = ["app", "owner_id"]
  private static let address = ["app", "owner_id", "token", "environment", "installation_id"]
  static let phone = address + ["locale", "removed"]
  static let card = ["ride", "activity_id"] + address + ["frequent", "removed"]
  static let pushToStart = address + ["attributes_type", "removed"]
  static let contact = ["app", "owner_id", "installation_id"]
  static let push = ["ride", "rule", "token"]
  static let preference = ["app", "owner_id", "topic", "allowed"]
  static let answer = ["token", "status", "reason", "timestamp", "after_ms"]
  static let outcome =
    push + ["status", "reason", "app", "event", "event_at", "type", "priority", "card"]
}
