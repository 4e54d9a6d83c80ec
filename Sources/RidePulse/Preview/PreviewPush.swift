import Foundation
import RideCore

/// The pushes of one rule for one ride at one time: one for each phone.
struct PreviewGroup {
  var at: Timestamp
  var ride: Ride
  var pushes: [PlannedPush]

  var first: PlannedPush { pushes[0] }

  /// Groups the pushes of one decision by rule and slot.
  static func groups(_ decision: Decision, at instant: Timestamp) -> [PreviewGroup] {
    guard let ride = decision.view.ride else { return [] }
    var groups: [PreviewGroup] = []
    for push in decision.pushes {
      if let last = groups.last?.first.entry, last.rule == push.entry.rule,
        last.event == push.entry.event
      {
        groups[groups.count - 1].pushes.append(push)
      } else {
        groups.append(PreviewGroup(at: instant, ride: ride, pushes: [push]))
      }
    }
    return groups
  }
}

/// Reports what is unusual about a push.
enum PreviewWarning {
  /// Returns a warning if a payload reaches nine tenths of its limit.
  static func payload(_ push: PlannedPush) -> String? {
    let limit = push.address.payloadLimit
    return push.payload.count * 10 < limit * 9
      ? nil : "payload has \(push.payload.count) of \(limit) bytes"
  }
}

/// Receives the pushes of a preview in time order.
protocol PreviewWriter {
  mutating func write(_ group: PreviewGroup) throws
  mutating func end(_ summary: PreviewSummary) throws
}

extension CivilTime {
  /// Formats as `2026-11-21T08:15:00Z`, with microseconds if they are not zero.
  static func exact(_ instant: Timestamp) -> String {
    let rest = instant.microseconds - instant.epochSeconds * 1_000_000
    let text = iso(instant)
    if rest == 0 { return text }
    let digits = String(rest)
    let fraction = String(repeating: "0", count: 6 - digits.count) + digits
    return text.dropLast() + "." + fraction + "Z"
  }

  /// Formats as `2026-11-21 09:15:00 +01:00`, in the local time of a zone.
  static func local(_ instant: Timestamp, _ zone: ZoneTimes?) -> String {
    let offset = zone?.offset(at: instant) ?? 0
    let wall = iso(Timestamp(epochSeconds: instant.epochSeconds + offset))
    return wall.dropLast().replacing("T", with: " ") + " " + offsetText(offset)
  }

  /// Formats as `+01:00`.
  static func offsetText(_ offset: Int64) -> String {
    let minutes = abs(offset) / 60
    func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return (offset < 0 ? "-" : "+") + two(minutes / 60) + ":" + two(minutes % 60)
  }
}

/// Writes a preview to standard output or a file, in large chunks.
final class PreviewOutput {
  private let handle: FileHandle
  private let name: String
  private var buffer: [UInt8] = []

  /// - Throws: `CommandFailure` if the file can't be written.
  init(path: String?) throws {
    guard let path else {
      (handle, name) = (FileHandle.standardOutput, "standard output")
      return
    }
    guard FileManager.default.createFile(atPath: path, contents: nil),
      let handle = FileHandle(forWritingAtPath: path)
    else { throw CommandFailure("--output: \(path) can't be written") }
    (self.handle, name) = (handle, path)
  }

  func write(_ text: String) throws { try write(Array(text.utf8)) }

  func write(_ bytes: [UInt8]) throws {
    buffer += bytes
    if buffer.count >= 1 << 16 { try flush() }
  }

  func flush() throws {
    if buffer.isEmpty { return }
    do {
      try handle.write(contentsOf: Data(buffer))
    } catch {
      throw CommandFailure("\(name) can't be written: \(error.localizedDescription)")
    }
    buffer.removeAll(keepingCapacity: true)
  }
}
