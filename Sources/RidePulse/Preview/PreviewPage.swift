import RideCore

/// Writes a preview as one HTML page that needs no network.
///
/// The page is a timeline with a lane for each ride, or for each rule if there are many rides,
/// below a chart of the pushes per minute.
struct PreviewPage: PreviewWriter {
  /// Above this number of marks, the pushes of one rule within a minute share one mark.
  static let markLimit = 5_000
  static let rideLaneLimit = 60

  private let output: PreviewOutput
  private var marks: [JSONValue] = []
  private var rides: Set<RideID> = []
  /// The number of pushes by minute, rule, app and type.
  private var minutes: [Cell: Int] = [:]

  private struct Cell: Hashable {
    var minute: Int64
    var rule: String
    var app: String
    var type: String
  }

  init(_ output: PreviewOutput) {
    self.output = output
  }

  mutating func write(_ group: PreviewGroup) throws {
    let push = group.first
    let cell = Cell(
      minute: group.at.epochSeconds / 60, rule: push.entry.rule, app: push.entry.app.rawValue,
      type: push.headers.pushType.rawValue)
    minutes[cell, default: 0] += group.pushes.count
    if rides.count <= Self.rideLaneLimit { rides.insert(group.ride.id) }
    guard marks.count <= Self.markLimit else { return }
    let zone = ZoneTimes(identifier: group.ride.timeZone)
    marks.append(
      .object([
        "at": .integer(group.at.epochSeconds), "rule": .string(cell.rule),
        "ride": .string(group.ride.id.text), "app": .string(cell.app), "type": .string(cell.type),
        "n": .integer(Int64(group.pushes.count)),
        "text": .string(
          [
            "\(push.entry.rule), ride \(group.ride.id)", CivilTime.local(group.at, zone),
            "\(cell.app), \(cell.type), priority \(push.headers.priority.rawValue), "
              + "\(counted(group.pushes.count, "phone")), \(push.payload.count) bytes",
            push.headers.expiration == .neverStore
              ? "never stored" : "valid until \(CivilTime.local(push.validUntil, zone))",
            String(decoding: push.payload, as: UTF8.self),
          ].joined(separator: "\n")),
      ]))
  }

  mutating func end(_ summary: PreviewSummary) throws {
    let isWhole = marks.count <= Self.markLimit
    let lanes = isWhole && rides.count <= Self.rideLaneLimit ? "ride" : "rule"
    let cells = minutes.sorted {
      ($0.key.minute, $0.key.rule, $0.key.app) < ($1.key.minute, $1.key.rule, $1.key.app)
    }.map { cell, count -> JSONValue in
      .object([
        "at": .integer(cell.minute * 60), "rule": .string(cell.rule), "app": .string(cell.app),
        "type": .string(cell.type), "n": .integer(Int64(count)),
        "text": .string(
          "\(cell.rule)\n\(CivilTime.iso(Timestamp(epochSeconds: cell.minute * 60)))\n\(count) pushes "
            + "in this minute"),
      ])
    }
    let data = JSONValue.object([
      "from": .integer(summary.from.epochSeconds), "to": .integer(summary.to.epochSeconds),
      "lanes": .string(lanes), "marks": .array(isWhole ? marks : cells), "minutes": .array(cells),
      "title": .string(
        "\(counted(summary.pushes, "push", "pushes")) about \(counted(summary.rides, "ride")), \(CivilTime.iso(summary.from)) to "
          + CivilTime.iso(summary.to)),
      "warnings": .array(summary.warnings.map { .string($0) }),
    ])
    let json = Escape.jsonInHTML(String(decoding: data.json, as: UTF8.self))
    try output.write(PreviewDocument.html(data: json))
  }
}
