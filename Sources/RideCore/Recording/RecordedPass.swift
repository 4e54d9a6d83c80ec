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
  /// A JSON object, which `DayRecorder` reads.
  package let json: String

  /// How far back a contact still counts for `from`; older ones are not recorded.
  static let contactWindow: Duration = .seconds(3600)

  /// - Parameters:
  ///   - outcomes: Those of the decision's pushes.
  ///   - settlement: What was made of them.
  ///   - now: When they had ended.
  package init(
    _ decision: Decision, _ outcomes: [PushOutcome], _ settlement: Settlement, _ times: PassTimes,
    now: Timestamp
  ) {
    let view = decision.view
    decidedAt = times.decidedAt
    sample = times.sample
    let recent = times.decidedAt - Self.contactWindow
    let contacts =
      (view.phones.compactMap(\.contactedAt) + view.contacts.map(\.at)).filter { $0 >= recent }
    from = (view.events.map(\.at) + contacts + [times.decidedAt, now]).min() ?? now
    var members: [String: JSONValue] = [
      "settled_at": .micros(now), "decided_at": .micros(times.decidedAt),
    ]
    members["ride"] = view.ride?.recorded
    members.set("events", view.events.map(\.recorded))
    members.set("phones", view.phones.map { $0.recorded(since: recent) })
    members.set("cards", view.cards.compactMap(\.recorded))
    members.set("starts", view.startTokens.map(\.recorded))
    members.set("contacts", view.contacts.filter { $0.at >= recent }.map(\.recorded))
    members.set(
      "opt_outs",
      view.optOuts.map { optOut in
        .object([
          "app": .string(optOut.app.rawValue), "owner_id": .string(optOut.owner.text),
          "topic": .string(optOut.topic.text),
        ])
      })
    members.set("seen", view.seen.map { .string($0.description) })
    members.set("answers", Self.answers(decision, outcomes, times))
    let tokens = Tokens(decision)
    members.set("outcomes", settlement.entries.map { $0.recorded(token: tokens.token(of: $0)) })
    members.set(
      "emits",
      settlement.emits.map {
        .object(["event": .string($0.name), "data": JSONValue(json: $0.data.utf8) ?? .null])
      })
    // Not all phones were read: one that is missing is not gone.
    if view.memo.part != nil || decision.settlement.memo.part != nil { members["is_part"] = .bool(true) }
    json = String(decoding: JSONValue.object(members).json, as: UTF8.self)
  }

  private static func answers(
    _ decision: Decision, _ outcomes: [PushOutcome], _ times: PassTimes
  ) -> [JSONValue] {
    zip(decision.pushes, outcomes).enumerated().compactMap { index, answered -> JSONValue? in
      let (push, outcome) = answered
      guard case .device(let token) = push.address else { return nil }
      // Not tried at all.
      if outcome == .unsent(.heldBack) || outcome.isHandedBack { return nil }
      var members: [String: JSONValue] = [
        "token": .string(token.hex), "status": .integer(0),
        "at": .micros(times.answeredAt(index)),
        "after_us": .integer(times.took(index).microseconds),
      ]
      switch outcome {
      case .accepted: members["status"] = .integer(200)
      case .refused(let refusal):
        members["status"] = .integer(Int64(refusal.status))
        members["reason"] = refusal.reason.map { .string($0.replacing("\0", with: "")) }
        members["timestamp"] = refusal.timestamp.map { .micros($0) }
      case .unsent, .unanswered:
        members["reason"] = Verdict(outcome).reason.map { .string($0.code.word) }
      }
      return .object(members)
    }
  }

  /// The tokens of a decision's recipients, which ledger rows do not have.
  private struct Tokens {
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
}
