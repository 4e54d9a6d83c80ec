package import Base

/// A pass of a sampled ride, as the database keeps it: what the decision read, what APNs answered,
/// and how its pushes ended.
///
/// The rows are as they were read, with IDs and tokens; `ridepulse record` makes them harmless. It is
/// JSON, because the program that reads it may be of a later version.
package struct RecordedPass: Hashable, Sendable {
  /// When it was decided.
  package let decidedAt: Timestamp
  /// The earliest time in it.
  package let from: Timestamp
  /// The share of rides that was recorded.
  package let sample: RecordSample
  /// The JSON of a `PassContent`.
  package let json: String

  /// How far back a contact still counts for `from`; older ones are not recorded.
  static let contactWindow: Duration = .seconds(3600)

  /// - Parameters:
  ///   - outcomes: Those of the decision's pushes.
  ///   - settlement: What was made of them.
  ///   - now: When they had ended.
  /// - Returns: Nil if the ride is not sampled.
  package init?(
    _ decision: Decision, _ outcomes: [PushOutcome], _ settlement: Settlement, _ times: PassTimes,
    now: Timestamp
  ) {
    guard let sample = times.sample else { return nil }
    self.sample = sample
    decidedAt = times.decidedAt
    var content = PassContent(read: decision.view, since: times.decidedAt - Self.contactWindow)
    content.settledAt = now
    content.decidedAt = decidedAt
    let read = content.events.compactMap(\.at) + content.phones.compactMap(\.at)
    from = (read + content.contacts.compactMap(\.at) + [decidedAt, now]).min() ?? now
    content.answers = zip(decision.pushes, outcomes).enumerated().compactMap { index, answered in
      let (push, outcome) = answered
      return RecordedAnswer(push, outcome, after: times.took(index)).map {
        PassContent.Row(record: $0, at: times.answeredAt(index))
      }
    }
    let tokens = PushTokens(decision)
    content.outcomes = settlement.entries.map { entry in
      let outcome = RecordedOutcome(
        entry, ride: decision.view.rideID, token: tokens.token(of: entry))
      return PassContent.Row(record: outcome, id: entry.id.description)
    }
    content.emits = settlement.emits.map { PassContent.Event($0.name, data: $0.data) }
    if decision.settlement.memo.part != nil { content.isPart = true }
    json = content.storedText
  }
}

extension PassContent {
  /// Creates the content with what a decision read.
  ///
  /// - Parameter recent: How far back contacts count.
  fileprivate init(read view: RideView, since recent: Timestamp) {
    ride = view.ride.map { RideUpdate($0) }
    events = view.events.map { Row(record: Event($0.name, data: $0.data), at: $0.at) }
    phones = view.phones.map { phone in
      Row(record: Registration(phone), at: phone.contactedAt.flatMap { $0 >= recent ? $0 : nil })
    }
    cards = view.cards.compactMap { Registration($0) }.map { Row(record: $0) }
    starts = view.startTokens.map { Row(record: Registration($0)) }
    contacts = view.contacts.filter { $0.at >= recent }.map {
      Row(record: Participant(app: $0.app, ownerID: $0.owner), at: $0.at)
    }
    optOuts = Array(view.optOuts)
    seen = view.seen.map(\.description)
    reporters = view.reporters.map {
      Row(record: Participant(app: $0.app, ownerID: $0.owner))
    }
    isPart = view.memo.part != nil
  }
}

extension PassContent.Event {
  fileprivate init(_ name: String, data: String) {
    self.name = name
    if case .object(let members)? = JSONValue(json: data.utf8) { self.data = members }
  }
}

/// The tokens of a decision's recipients, which ledger rows do not have.
private struct PushTokens {
  private var byPush: [PushID: String] = [:]
  private var byPhone: [Int64: String] = [:]
  private var byCard: [CardTarget: String] = [:]
  private var byStart: [Int64: String] = [:]

  init(_ decision: Decision) {
    for push in decision.pushes {
      if case .device(let token) = push.address { byPush[push.entry.id] = token.hex }
    }
    for phone in decision.view.phones { byPhone[phone.id] = phone.token }
    for card in decision.view.cards { byCard[card.target] = card.token }
    for start in decision.view.startTokens { byStart[start.id] = start.token }
  }

  func token(of entry: LedgerEntry) -> String? {
    byPush[entry.id] ?? entry.card.flatMap { byCard[$0] } ?? entry.startToken.flatMap {
      byStart[$0]
    }
      ?? entry.phone.flatMap { byPhone[$0] }
  }
}
