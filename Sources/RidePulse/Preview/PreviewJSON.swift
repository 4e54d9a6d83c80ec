import Base
import RideCore
import Timeline

/// Writes a preview for machines: one JSON object per push, one per line, and a summary at the end.
///
/// Keys have a fixed order and times a fixed form, so that equal input produces equal bytes. The
/// lines are assembled by hand: encoding each of a million of them would take minutes.
struct PreviewJSON: PreviewWriter {
  private let output: PreviewOutput
  private let warnings: [String: [String]]

  init(_ output: PreviewOutput, rules: RuleSet) {
    self.output = output
    var warnings: [String: [String]] = [:]
    for advice in RuleLint.heartbeats(in: rules) {
      if let rule = advice.rule { warnings[rule, default: []].append(advice.text) }
    }
    self.warnings = warnings
  }

  mutating func write(_ group: PreviewGroup) throws {
    let at = Self.text(CivilTime.exact(group.at))
    let ride = Self.text(group.ride.id.text)
    for push in group.pushes {
      let headers = push.headers
      let warnings =
        (self.warnings[push.entry.rule] ?? [])
        + [PreviewWarning.payload(push)].compactMap { $0 }
      let members = [
        "\"at\":\(at)", "\"rule\":\(Self.text(push.entry.rule))", "\"ride_id\":\(ride)",
        "\"app\":\(Self.text(push.entry.app.rawValue))",
        "\"event\":\(Self.text(push.entry.event.name))",
        "\"card_event\":\(push.entry.cardEvent.map { "\"\($0.rawValue)\"" } ?? "null")",
        "\"push_type\":\"\(push.entry.typeName)\"", "\"topic\":\(Self.text(headers.topic))",
        "\"priority\":\(headers.priority.rawValue)",
        "\"expiration\":\(headers.expiration.epochSeconds)",
        "\"collapse_id\":\(headers.collapseID.map { Self.text($0.text) } ?? "null")",
        "\"apns_id\":\"\(headers.id)\"",
        "\"devices\":[{\(Self.service(push)),\"token_suffix\":"
          + "\(Self.text(push.entry.tokenSuffix ?? ""))}]",
        "\"payload_bytes\":\(push.payload.count)",
        "\"warnings\":[\(warnings.map(Self.text).joined(separator: ","))]",
        "\"payload\":",
      ]
      try output.write("{" + members.joined(separator: ","))
      try output.write(Self.printable(push.payload))
      try output.write("}\n")
    }
  }

  /// The environment of APNs, or the platform of a phone that another service reaches.
  private static func service(_ push: PlannedPush) -> String {
    push.network.apns.map { "\"environment\":\"\($0.rawValue)\"" }
      ?? "\"platform\":\"\(push.platform.rawValue)\""
  }

  mutating func end(_ summary: PreviewSummary) throws {
    func counts(_ counts: [String: Int]) -> JSONValue {
      .object(counts.mapValues { .integer(Int64($0)) })
    }
    var members: [String: JSONValue] = [
      "summary": .bool(true), "from": .string(CivilTime.exact(summary.from)),
      "to": .string(CivilTime.exact(summary.to)), "rides": .integer(Int64(summary.rides)),
      "pushes": .integer(Int64(summary.pushes)), "by_rule": counts(summary.byRule),
      "by_push_type": counts(summary.byType),
      "not_sent": .object(summary.notSent.mapValues(counts)),
      "warnings": .array(summary.warnings.map { .string($0) }),
      "slots": .object(summary.tallies.mapValues(Self.tally)), "busiest_minute": .null,
    ]
    if let busiest = summary.busiest {
      members["busiest_minute"] = .object([
        "at": .string(CivilTime.iso(Timestamp(epochSeconds: busiest.minute * 60))),
        "pushes": .integer(Int64(busiest.pushes)),
      ])
    }
    try output.write(Self.printable(JSONValue.object(members).json) + Array("\n".utf8))
  }

  private static func tally(_ tally: SlotTally) -> JSONValue {
    .object(
      [
        "due": tally.due, "fired": tally.fired, "skipped": tally.skipped, "missed": tally.missed,
        "capped": tally.capped, "expired": tally.expired,
      ].mapValues { .integer(Int64($0)) })
  }

  /// Returns a JSON string. Nearly all texts need no escape.
  static func text(_ text: String) -> String {
    let isPlain = text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x22 && $0 != 0x5c && $0 < 0x7f }
    return isPlain
      ? "\"\(text)\"" : Escape.json(String(decoding: JSONValue.string(text).json, as: UTF8.self))
  }

  /// Returns a JSON text that is safe on a terminal. Nearly all texts need no escape.
  private static func printable(_ json: [UInt8]) -> [UInt8] {
    if json.allSatisfy({ $0 >= 0x20 && $0 < 0x7f }) { return json }
    return Array(Escape.json(String(decoding: json, as: UTF8.self)).utf8)
  }
}
