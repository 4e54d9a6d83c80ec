package import Base

/// The first line of a day: what the day covers, and what recorded it.
package struct DayHeader: Hashable, Sendable {
  package var from: Timestamp
  package var to: Timestamp
  /// How many percent of the rides it has; 100 if it does not state that.
  package var sample: Double = 100
  /// `sha256:` and the digest of the rule files that were in effect at its start.
  package var schedules: String?
  /// The version of the engine that recorded the day; nil for one that another program wrote.
  package var engine: String?

  /// The version of the format.
  package static let version: Int64 = 1

  package init(from: Timestamp, to: Timestamp) {
    self.from = from
    self.to = to
  }

  /// Whether the day has each event in a line of its own.
  ///
  /// The engine records every event that it read. Any other program writes rows alone, and their
  /// changes emit events as the database's trigger does.
  package var isRecorded: Bool { engine != nil }
}

extension DayHeader: StoredObject {
  package static var blank: DayHeader {
    DayHeader(from: Timestamp(microseconds: 0), to: Timestamp(microseconds: 0))
  }

  package mutating func visit(_ fields: inout some StoredFields) throws(StoredFault) {
    var version = Self.version
    try fields.field("day", &version)
    try fields.field("from", &from, as: .time, or: StoredFault("missing", expected: "a time"))
    try fields.field("to", &to, as: .time, or: StoredFault("missing", expected: "a time"))
    var share = sample == 100 ? nil : sample
    try fields.field("sample", &share, as: .number)
    sample = share ?? 100
    try fields.field("schedules", &schedules)
    try fields.field("engine", &engine)
    guard from < to else { throw StoredFault("not after from").within("to") }
    guard sample > 0, sample <= 100 else {
      throw StoredFault("\(sample) is not a share", expected: "a percentage above 0, at most 100")
        .within("sample")
    }
  }

  /// The line without its line feed.
  package var json: [UInt8] {
    var (json, header): ([UInt8], DayHeader) = ([], self)
    FieldWriter.object(in: &json, isOfFile: true) { fields in try? header.visit(&fields) }
    return json
  }

  init(_ value: JSONValue) throws(StoredFault) {
    // The version comes first: a later one may have keys that this program does not know.
    guard let version = value.value(at: ["day"]) else {
      throw StoredFault(
        "no header of a day",
        expected:
          #"a first line such as {"day":1,"from":"2026-11-21T00:00:00Z","to":"2026-11-22T00:00:00Z"}"#
      )
    }
    guard version == .integer(Self.version) else {
      throw StoredFault(
        "a day of format \(String(decoding: version.json, as: UTF8.self)), which this version of ridepulse does not read",
        expected:
          "format \(Self.version); record the day with this version, or rehearse it with the one that recorded it"
      ).within("day")
    }
    var fields = try FieldReader(ofFile: value, keys: FieldKeys.of(Self.blank))
    self = .blank
    try visit(&fields)
  }
}
