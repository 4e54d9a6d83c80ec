package import Base

/// The right to send one firing of a rule to one owner, where `at-most` counts.
///
/// A decision can't count what other rides send. It assumes that its permits are granted; before the
/// pushes are sent, the store grants or refuses the permits of a batch under a lock of owner and topic
/// or rule, and a ride with a refusal is decided again. All nodes derive the same ID, so that no firing gets
/// two permits.
package struct Permit: Hashable, Sendable {
  package enum Standing: Hashable, Sendable {
    case granted
    /// The owner had as many pushes of the topic, or of the rule, as the rule allows.
    case refused
  }

  package var id: PushID
  package var app: App
  package var owner: OwnerID
  /// What it counts as.
  package var pushes: CountedPushes
  package var ride: RideID
  /// How long what was sent counts: the longest period of the rules that count it.
  package var window: Duration

  package init(
    id: PushID, app: App, owner: OwnerID, pushes: CountedPushes, ride: RideID, window: Duration
  ) {
    self.id = id
    self.app = app
    self.owner = owner
    self.pushes = pushes
    self.ride = ride
    self.window = window
  }
}

extension LedgerEntry {
  /// The permit that a push of a ride needs if it is counted: all phones of its owner
  /// share it. Nil for a push that names no owner.
  package func permitID(of ride: RideID) -> PushID? {
    owner.map { owner in
      PushID(
        of: "permit", ride.text, rule, app.rawValue, owner.text, "\(event.id)",
        "\(event.firing.microseconds)")
    }
  }
}

/// A permit that planned pushes need.
package struct PermitRequest: Hashable, Sendable {
  package var permit: Permit
  package var cap: PushCap
  /// Until when the pushes may be sent: a permit whose outcome is unknown counts as used then.
  package var validUntil: Timestamp
  /// When its event or slot was: of several requests the oldest is granted first.
  package var occurredAt: Timestamp
}

/// The outcome of a permit's pushes.
package struct PermitOutcome: Hashable, Sendable {
  package var permit: Permit
  /// Whether one of them was sent, or may have been.
  package var isSent: Bool
  /// Whether none of them is sent any more.
  package var isDone: Bool
}

/// Decides what one ride needs now, with the permits that its pushes need.
///
/// - Parameter refused: returns the requests that are refused, by the permit.
package func decide(
  _ view: RideView, by configuration: EngineConfiguration, now: Timestamp,
  refusing refused: ([PermitRequest]) -> Set<PushID>
) -> Decision {
  var decision = decide(view, by: configuration, now: now)
  while !decision.permitRequests.isEmpty {
    let again = decision.view.answer(decision.permitRequests, refused(decision.permitRequests))
    if !again { return decision }
    decision = decide(decision.view, by: configuration, now: now)
  }
  return decision
}

extension RideView {
  /// Records the answers to a decision's requests; returns whether the ride must be decided again.
  package mutating func answer(_ requests: [PermitRequest], _ refused: Set<PushID>) -> Bool {
    for request in requests {
      permits[request.permit.id] = refused.contains(request.permit.id) ? .refused : .granted
    }
    return requests.contains { refused.contains($0.permit.id) }
  }
}

/// The permits of owners by topic or rule: the rule by which a store grants them.
///
/// `ridepulse.request_permits` has the same rule in SQL; the preview and tests use this one.
package struct PermitBook: Sendable {
  private struct Account: Hashable, Sendable {
    var app: App
    var owner: OwnerID
    var pushes: CountedPushes

    init(_ permit: Permit) {
      app = permit.app
      owner = permit.owner
      pushes = permit.pushes
    }
  }

  private struct Entry: Sendable {
    var permit: Permit
    /// When it was used; if its outcome is unknown, when it can last be.
    var at: Timestamp
    var isSent = false
  }

  private var entries: [PushID: Entry] = [:]
  private var accounts: [Account: Set<PushID>] = [:]

  package init() {}

  /// The permits that were granted, used or not.
  var granted: [Permit] { entries.values.map(\.permit) }

  /// Adds a push that was sent before.
  package mutating func add(_ permit: Permit, sentAt at: Timestamp) {
    set(Entry(permit: permit, at: at, isSent: true))
  }

  /// Grants permits, the oldest firings first; returns those that are refused.
  package mutating func refuse(_ requests: [PermitRequest], at now: Timestamp) -> Set<PushID> {
    let ordered = requests.sorted {
      ($0.occurredAt, $0.permit.id.bits) < ($1.occurredAt, $1.permit.id.bits)
    }
    return Set(ordered.filter { !grant($0, at: now) }.map(\.permit.id))
  }

  /// Records what a settlement reports.
  package mutating func settle(_ outcomes: [PermitOutcome], at now: Timestamp) {
    for outcome in outcomes { record(outcome, at: now) }
  }

  private mutating func record(_ outcome: PermitOutcome, at now: Timestamp) {
    var entry = entries[outcome.permit.id] ?? Entry(permit: outcome.permit, at: now)
    // What was sent counts, whatever the answer was.
    if outcome.isSent { entry.isSent = true }
    if outcome.isDone { entry.at = now }
    if entry.isSent {
      set(entry)
    } else if outcome.isDone {
      remove(outcome.permit)
    }
  }

  private mutating func grant(_ request: PermitRequest, at now: Timestamp) -> Bool {
    let permit = request.permit
    if var known = entries[permit.id] {
      known.at = max(known.at, request.validUntil)
      set(known)
      return true
    }
    for id in accounts[Account(permit)] ?? [] {
      if let old = entries[id], old.at <= now - permit.window { remove(old.permit) }
    }
    let used = (accounts[Account(permit)] ?? []).count { id in
      guard let entry = entries[id] else { return false }
      switch request.cap.period {
      case .time(let time): return entry.at > now - time
      case .ride: return entry.permit.ride == permit.ride
      }
    }
    if used >= request.cap.count { return false }
    set(Entry(permit: permit, at: request.validUntil))
    return true
  }

  private mutating func set(_ entry: Entry) {
    entries[entry.permit.id] = entry
    accounts[Account(entry.permit), default: []].insert(entry.permit.id)
  }

  private mutating func remove(_ permit: Permit) {
    entries[permit.id] = nil
    accounts[Account(permit)]?.remove(permit.id)
  }
}
