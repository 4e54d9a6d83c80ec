import Base
import Foundation
import PostgresStore
import RideCore

/// Formats a search for people, in UTC.
struct SearchTable {
  private let result: SearchResult
  private let query: SearchQuery
  private let rows: LedgerLines

  init(_ result: SearchResult, of query: SearchQuery) {
    self.result = result
    self.query = query
    rows = LedgerLines(zone: nil, revisions: result.revisions)
  }

  var text: String {
    let parts =
      [phones, startTokens, cards, contacts, rides, pushes, rows.decidedBy(result.pushes.items)]
      .filter { !$0.isEmpty }
    // Each part begins with an empty line, except the first one.
    return (parts.flatMap(\.self).dropFirst() + ["", next])
      .map { Escape.line($0) }.joined(separator: "\n")
  }

  private func part<Item>(
    _ name: String, _ page: Page<Item>, _ line: (Item) -> String
  ) -> [String] {
    if page.items.isEmpty { return [] }
    let more = page.hasMore ? ["  only the first \(page.items.count) are shown"] : []
    return ["", name] + page.items.map { "  " + line($0) } + more
  }

  private var phones: [String] {
    let found = part("phones", result.phones) { PhoneLine(phone: $0, zone: nil).text }
    guard case .owner = query.key, found.isEmpty else { return found }
    return ["", "phones", "  none: the app has not called register_device for this owner"]
  }

  private var startTokens: [String] {
    part("start tokens", result.startTokens) { token in
      "\(token.app) \(token.ownerID) …\(token.tokenSuffix), starts \(token.attributesType), "
        + "registered \(local(token.registeredAt))"
        + disabled(token.disabledAt, token.disabledReason)
    }
  }

  private var cards: [String] {
    part("cards", result.activities) { card in
      let end = card.endedAt.map { "; ended \(local($0)): \(card.endedReason ?? "")" } ?? ""
      return "\(card.activityID) of ride \(card.rideID), \(card.app) \(card.ownerID) "
        + "…\(card.tokenSuffix), registered \(local(card.registeredAt))\(end)"
    }
  }

  private var contacts: [String] {
    if result.contacts.isEmpty { return [] }
    return ["", "last contact"] + result.contacts.map { "  \($0.app): \(local($0.contactedAt))" }
  }

  private var rides: [String] {
    part("rides", result.rides) { ride in
      var text = "\(ride.id) as \(ride.app): \(ride.state ?? "no state"), "
      if let reason = ride.parkedReason {
        text += "parked: \(reason)"
      } else if ride.isLive {
        text += ride.due.map { "next due \(local($0))" } ?? "due with its next event"
      } else {
        text += "not on the agenda"
      }
      return text
    }
  }

  private var pushes: [String] {
    let found = result.pushes.items
    if found.isEmpty { return ["", "no push is recorded"] }
    var lines = ["", found.count == 1 ? "push" : "pushes, newest first"]
    for row in found {
      let event = row.eventID.map { " (event \($0))" } ?? ""
      lines.append("\(local(row.occurredAt))  ride \(row.rideID): \(row.event)\(event)")
      lines += rows.lines(row)
    }
    return lines + older
  }

  /// How to read the pushes that are not shown.
  ///
  /// The view has no phones, so a token's end may be that of another person's phone.
  private var older: [String] {
    guard result.pushes.hasMore, let last = result.pushes.items.last else { return [] }
    let ends = Set(result.phones.items.map(\.tokenSuffix) + endOfToken).sorted()
    let rides = result.rides.items.map { ride in
      "(\(SQLText.literal(ride.id.text)), \(SQLText.literal(ride.app)))"
    }
    var conditions: [String] = []
    if !ends.isEmpty {
      conditions.append("token_suffix in (\(ends.map(SQLText.literal).joined(separator: ", ")))")
    }
    if !rides.isEmpty {
      conditions.append("(ride_id, app) in (\(rides.joined(separator: ", ")))")
    }
    if conditions.isEmpty { return [] }
    let time = SQLText.literal(CivilTime.exact(last.createdAt))
    return [
      "older ones, also to other phones of these rides or with the same six digits: "
        + "select * from \(Database.schema).deliveries where (\(conditions.joined(separator: " or "))) "
        + "and created_at <= \(time) order by created_at desc"
    ]
  }

  private var endOfToken: [String] {
    if case .token(let token) = query.key { [String(token.text.suffix(6))] } else { [] }
  }

  private var next: String {
    guard let ride = result.pushes.items.first?.rideID ?? result.rides.items.first?.id else {
      return "nothing was decided for a ride of this owner or token yet"
    }
    let word =
      ride.text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.:".contains($0)) }
      ? ride.text : "'\(ride.text.replacing("'", with: "'\\''"))'"
    return "the whole history of a ride: ridepulse explain \(word)"
  }

  private func disabled(_ at: Timestamp?, _ reason: String?) -> String {
    at.map { "; disabled \(local($0)): \(reason ?? "")" } ?? ""
  }

  private func local(_ instant: Timestamp) -> String { CivilTime.local(instant, nil) }
}
