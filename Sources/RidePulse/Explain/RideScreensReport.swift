import Base
import PostgresStore
import RideCore
import Timeline

/// What a ride's phones show over time, and what of it is not known: what `page/screens.js` draws.
struct RideScreensReport {
  private let history: RideHistory
  private let source: RecordedSource
  private let hasRules: Bool
  private let screens: LedgerScreens

  /// - Parameter configuration: The rules at hand; nil if they can't be used.
  init(
    _ history: RideHistory, of id: String, _ source: RecordedSource,
    by configuration: EngineConfiguration?
  ) {
    self.history = history
    self.source = source
    let configuration = configuration?.deciding(RideID(id))
    hasRules = configuration != nil
    let digest = configuration?.rules.digest
    let pushes = history.entries.compactMap { row -> AcceptedPush? in
      var push = AcceptedPush(row)
      let rules = row.decidedBy.flatMap { history.revisions[$0]?.revision.rules }
      push?.isOfTheseRules = digest == nil || rules == digest
      return push
    }
    screens = LedgerScreens(
      LedgerScreens.Source(
        ride: RideID(id), phones: RidePhones(history),
        pushes: pushes.sorted { $0.at < $1.at }, recorded: source.ride(id, by: configuration)),
      until: history.now)
  }

  var json: JSONValue {
    let phones = screens.phones.filter { !$0.steps.isEmpty }
    let times = phones.flatMap(\.steps).map(\.now)
    let first = times.min() ?? history.now
    // Of a ride that is over, the time since then is of no interest.
    let last = (times.max() ?? history.now) + .seconds(60)
    let end = history.plan == nil ? min(history.now, last) : history.now
    return .object([
      "from": .integer(first.epochSeconds), "to": .integer(max(first, end).epochSeconds),
      "zone": .string(history.ride?.timeZone ?? "UTC"),
      "notes": .array(notes.map { .string($0) }), "phones": .array(phones.map(Self.phone)),
    ])
  }

  private static func phone(_ phone: LedgerScreens.Phone) -> JSONValue {
    let identity = phone.identity
    return .object([
      "locale": .orNull(identity.locale),
      "steps": .array(
        phone.steps.map {
          ScreenJSON($0, app: identity.app.rawValue, name: identity.title).value
        }),
    ])
  }

  /// What the screens do not show, and why.
  private var notes: [String] {
    let isEmpty = screens.phones.allSatisfy(\.steps.isEmpty)
    var notes = [isEmpty ? "No push of it reached a phone." : Self.assumption]
    if screens.unknown > 0 {
      notes.append("\(Self.contents(screens.unknown)) not known: \(cause).")
    }
    if screens.unknownOfOtherRules > 0 {
      notes.append(
        "\(Self.contents(screens.unknownOfOtherRules)) not known: "
          + "other rules than those in use decided.")
    }
    if case .passes(_, isCut: true) = source {
      notes.append(
        "Only the first \(RecordedPasses.rideLimit) recorded passes of the ride were read; of later "
          + "pushes the content is not known.")
    }
    let uncertain = history.entries.count { $0.status == LedgerEntry.Status.uncertain.rawValue }
    if uncertain > 0 {
      notes.append(
        "\(counted(uncertain, "push", "pushes")) may have arrived and may be missing here.")
    }
    if screens.phones.contains(where: \.isCut) {
      notes.append("Only the last \(LedgerScreens.stepLimit) changes of each phone are shown.")
    }
    return notes
  }

  private static let assumption =
    "Each phone is shown as if it was on, without a Focus, and with every notification left in "
    + "place: no table has more."

  private static func contents(_ count: Int) -> String {
    count == 1 ? "The content of 1 push is" : "The content of \(count) pushes is"
  }

  private var cause: String {
    switch source {
    case .unreadable: "the recorded passes can't be read by this role, or not in time"
    case .passes(let passes, _) where passes.isEmpty:
      "the ride was not recorded, see RIDEPULSE_RECORD"
    case .passes where !hasRules: "the rules can't be used here, see RIDEPULSE_SCHEDULES"
    case .passes:
      "deciding the recorded passes again did not give it, or its person is erased"
    }
  }
}

extension RidePhones.Phone {
  /// Its owner and the end of its token, as the table has them.
  fileprivate var title: String {
    let suffix = tokenSuffix.isEmpty ? nil : "…\(tokenSuffix)"
    let parts = [owner?.text, suffix].compactMap(\.self)
    return parts.isEmpty ? "a phone with its card" : parts.joined(separator: " ")
  }
}

extension RidePhones {
  fileprivate init(_ history: RideHistory) {
    self.init(
      history.phones.map { phone in
        Phone(
          id: phone.id, app: App(rawValue: phone.app), owner: phone.ownerID,
          platform: phone.isAndroid ? .android : .ios,
          installation: phone.installationID, locale: phone.locale,
          tokenSuffix: phone.tokenSuffix)
      },
      activities: history.activities.filter { !$0.isAndroid }.map { card in
        Activity(
          app: App(rawValue: card.app), owner: card.ownerID, installation: card.installationID,
          tokenSuffix: card.tokenSuffix, registeredAt: card.registeredAt,
          dismissedAt: card.endedReason == "dismissed" ? card.endedAt : nil)
      })
  }
}

extension AcceptedPush {
  /// Nil for what no phone was sent, and for a push type of a later version.
  init?(_ row: LedgerRow) {
    guard row.kind == .push, row.status == LedgerEntry.Status.accepted.rawValue,
      let type = PushType(rawValue: row.pushType)
    else { return nil }
    self.init(
      id: row.id, rule: row.rule, app: App(rawValue: row.app), owner: row.ownerID,
      platform: row.isAndroid ? .android : .ios, type: type,
      cardEvent: row.cardEvent.flatMap { CardEvent(rawValue: $0) }, tokenSuffix: row.tokenSuffix,
      event: row.event, eventAt: row.occurredAt, at: row.finishedAt ?? row.createdAt,
      collapseID: row.collapseID)
  }
}
