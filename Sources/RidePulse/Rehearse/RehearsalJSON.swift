import Base
import Foundation
import RideCore
import SystemSupport
import Timeline

/// A rehearsal as one JSON object, which a later rehearsal can be compared with.
struct RehearsalJSON {
  let report: RehearsalReport

  /// The version of the form.
  private static let version: Int64 = 1
  private static let sizeLimit = 64 << 20

  var text: String {
    let header = report.header
    var members: [String: JSONValue] = [
      "rehearsal": .integer(Self.version),
      "day": .object([
        "from": .string(CivilTime.exact(header.from)), "to": .string(CivilTime.exact(header.to)),
        "sample": .number(header.sample), "lines": .integer(Int64(report.lines)),
      ]),
      "rules": .string(report.digest), "figures": report.after.json,
      "failed": .array(report.failures.map { .string($0.word.rawValue) }),
    ]
    if !report.failOn.limits.isEmpty { members["limits"] = .array(report.limitText.json) }
    if let before = report.before {
      members["before"] = before.json
      members["unchanged"] = .integer(Int64(report.changes.unchanged))
      members["changes"] = .array(report.changeText.json)
    }
    return Escape.json(JSONValue.object(members).text) + "\n"
  }

  /// Reads the figures of a former report.
  ///
  /// - Throws: `CommandFailure` if the file is no report of this version, or of another day.
  static func figures(_ path: String, of header: DayHeader) throws -> RehearsalSummary {
    let bytes: [UInt8]
    do throws(RegularFile.Failure) {
      bytes = try RegularFile.read(path, limit: sizeLimit)
    } catch {
      throw CommandFailure("--against: \(path) can't be read: \(error)")
    }
    guard let value = JSONValue(json: bytes), let version = value.value(at: ["rehearsal"]) else {
      throw CommandFailure(
        "--against: \(path) is not an output of rehearse --format json, nor a rule directory")
    }
    guard version == .integer(Self.version) else {
      throw CommandFailure(
        "--against: \(path) has the form \(version.text), this version reads \(Self.version); "
          + "make it again")
    }
    let day = CivilTime.exact(header.from)
    guard value.value(at: ["day", "from"]) == .string(day) else {
      throw CommandFailure("--against: \(path) is of another day than \(day)")
    }
    guard let figures = value.value(at: ["figures"]).flatMap(RehearsalSummary.init) else {
      throw CommandFailure("--against: \(path) has no figures; make it again")
    }
    return figures
  }
}
