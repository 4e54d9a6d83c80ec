import Base
import Foundation
import RideCore

/// Formats a channel audit as a table or as JSON.
struct ChannelReport {
  let audit: ChannelAudit
  let scope: ChannelScope

  var table: String {
    var rows = [["CHANNEL", "STATUS", "STORAGE", "RIDE", "WHAT"]]
    rows += audit.results.map { cells($0).map { Escape.line($0) } }
    let widths = (0..<4).map { column in rows.map { $0[column].count }.max() ?? 0 }
    var lines = rows.count == 1 ? [] : rows.map { Self.line($0, widths) } + [""]
    let counts = ChannelAudit.Standing.allCases
      .map { ($0, audit.count($0)) }.filter { $0.1 > 0 }
      .map { "\($0.1) \($0.0.rawValue)" }.joined(separator: ", ")
    lines.append(
      "\(scope): used \(Self.grouped(audit.used)) of \(Self.grouped(ChannelID.limitOfApp))"
        + (counts.isEmpty ? "" : ": \(counts)"))
    if !audit.idle.isEmpty {
      lines.append(
        "\(counted(audit.idle.count, "create")) without an answer made no channel that is left")
    }
    return lines.joined(separator: "\n")
  }

  private static func line(_ cells: [String], _ widths: [Int]) -> String {
    zip(cells, widths).map { padded($0, to: $1 + 2) }.joined() + cells[4]
  }

  /// `10,000`
  private static func grouped(_ number: Int) -> String {
    let digits = String(number)
    guard digits.count > 3 else { return digits }
    return grouped(number / 1000) + "," + digits.suffix(3)
  }

  private func cells(_ result: ChannelAudit.Entry) -> [String] {
    [
      result.channel.rawValue, result.standing.rawValue, result.storage?.rawValue ?? "-",
      result.named?.rideID?.text ?? "-", what(result),
    ]
  }

  private func what(_ result: ChannelAudit.Entry) -> String {
    if let row = result.named {
      let since = "since \(Self.time(row.createdAt))"
      switch result.standing {
      case .missing: return "gone from Apple, \(since)"
      case .leaked, .pending:
        return "given up \(row.endedAt.map(Self.time) ?? ""): \(row.endedReason ?? "")"
      default: return since
      }
    }
    guard let observation = result.observation else { return "appeared just now" }
    let seen = Self.time(observation.seenAt)
    guard let absentAt = observation.absentAt else { return "in the first listing, \(seen)" }
    let window = (observation.seenAt - absentAt).inSeconds.rounded(.up)
    let came = "appeared in the \(Duration.seconds(window).rideText) before \(seen)"
    let creates = counted(result.rows.count, "create")
    switch result.standing {
    case .pending: return "\(came); a create is under way"
    case .unclear: return "\(came); \(creates) had no answer, but more channels appeared"
    case .leaked: return "\(came); \(creates) had no answer then"
    default: return came
    }
  }

  private static func time(_ instant: Timestamp) -> String { CivilTime.iso(instant) }

  var json: JSONValue {
    .object([
      "bundle_id": .string(scope.bundleID), "environment": .string(scope.environment.rawValue),
      "used": .integer(Int64(audit.used)), "limit": .integer(Int64(ChannelID.limitOfApp)),
      "channels": .array(audit.results.map(Self.object)),
      "creates_without_channel": .integer(Int64(audit.idle.count)),
    ])
  }

  private static func object(_ result: ChannelAudit.Entry) -> JSONValue {
    let row = result.named
    return .object([
      "channel": .string(result.channel.rawValue), "status": .string(result.standing.rawValue),
      "storage": .orNull(result.storage?.rawValue), "ride_id": .orNull(row?.rideID?.text),
      "created_at": .orNull(row?.createdAt), "ended_at": .orNull(row?.endedAt),
      "absent_at": .orNull(result.observation?.absentAt),
      "seen_at": .orNull(result.observation?.seenAt),
      "request_ids": .array(result.rows.map { .string($0.requestID.description) }),
    ])
  }
}

extension ChannelAudit.Entry {
  /// The row that contains the ID of this channel.
  fileprivate var named: ChannelRow? { rows.first { $0.channel == channel } }

  fileprivate var storage: ChannelStorage? { named?.storage ?? observation?.storage }
}
