package import Base

/// The right to send one firing of a rule to one owner, where `at-most` counts.
///
/// A decision can't count what other rides send, so it asks: the settlement carries a request, the
/// store grants or refuses it under a lock of owner and topic, and the next decision of the ride
/// reads the answer. All nodes derive the same ID, so that no firing gets two permits.
package struct Permit: Hashable, Sendable {
  package enum Standing: Hashable, Sendable {
    case granted
    /// The owner had as many pushes of the topic as the rule allows.
    case refused
  }

  package var id: PushID
  package var app: App
  package var owner: OwnerID
  package var topic: Topic
  /// How long what was sent counts: the longest period of the topic's rules.
  package var window: Duration

  package init(id: PushID, app: App, owner: OwnerID, topic: Topic, window: Duration) {
    self.id = id
    self.app = app
    self.owner = owner
    self.topic = topic
    self.window = window
  }
}

extension LedgerEntry {
  /// The permit that a push of a ride needs where its topic is counted: all phones of its owner
  /// share it. Nil for a push that names no owner.
  package func permitID(of ride: RideID) -> PushID? {
    owner.map { owner in
      PushID(
        of: "permit", ride.text, rule, app.rawValue, owner.text, "\(event.id)",
        "\(event.at.microseconds)")
    }
  }
}

/// A permit that a ride's waiting push asked for, as the store answered.
package struct HeldPermit: Hashable, Sendable {
  package var permit: Permit
  package var standing: Permit.Standing

  package init(permit: Permit, standing: Permit.Standing) {
    self.permit = permit
    self.standing = standing
  }
}

/// What a settlement asks for and reports about permits.
package struct PermitChanges: Hashable, Sendable {
  /// A permit that a waiting push needs.
  package struct Request: Hashable, Sendable {
    package var permit: Permit
    package var cap: PushCap
    /// Until when the push may be sent: a permit whose outcome is unknown counts as used then.
    package var validUntil: Timestamp
    /// When its event or slot was: of several requests the oldest is granted first.
    package var occurredAt: Timestamp
  }

  /// The outcome of a permit's pushes.
  package struct Outcome: Hashable, Sendable {
    package var permit: Permit
    /// Whether one of them was sent, or may have been.
    package var isSent: Bool
    /// Whether none of them is sent any more.
    package var isDone: Bool
  }

  package var requests: [Request] = []
  package var outcomes: [Outcome] = []

  package init() {}

  package var isEmpty: Bool { requests.isEmpty && outcomes.isEmpty }
}

/// The permits of owners and topics: the rule by which a store grants them.
///
/// `ridepulse.settle_permits` has the same rule in SQL; the preview and tests use this one.
package struct PermitBook: Sendable {
  private struct Account: Hashable, Sendable {
    var app: App
    var owner: OwnerID
    var topic: Topic

    init(_ permit: Permit) {
      app = permit.app
      owner = permit.owner
      topic = permit.topic
    }
  }

  private struct Entry: Sendable {
    var held: HeldPermit
    /// When it was used; if its outcome is unknown, when it can last be.
    var at: Timestamp
    var isSent = false
  }

  private var entries: [PushID: Entry] = [:]
  private var accounts: [Account: Set<PushID>] = [:]

  package init() {}

  /// Adds a push that was sent before.
  package mutating func add(_ permit: Permit, sentAt at: Timestamp) {
    set(Entry(held: HeldPermit(permit: permit, standing: .granted), at: at, isSent: true))
  }

  /// Applies what a settlement asks for and reports.
  package mutating func settle(_ changes: PermitChanges, at now: Timestamp) {
    for outcome in changes.outcomes { record(outcome, at: now) }
    for request in changes.requests { grant(request, at: now) }
  }

  /// The permits that were granted, used or not.
  var granted: [Permit] {
    entries.values.map(\.held).filter { $0.standing == .granted }.map(\.permit)
  }

  /// Returns the permits of a ride's waiting pushes, as the next claim of the ride reads them.
  package func permits(of view: RideView) -> [PushID: HeldPermit] {
    if entries.isEmpty { return [:] }
    return view.memo.retries.reduce(into: [:]) { permits, pending in
      guard let id = pending.entry.permitID(of: view.rideID) else { return }
      permits[id] = entries[id]?.held
    }
  }

  private mutating func record(_ outcome: PermitChanges.Outcome, at now: Timestamp) {
    let known = entries[outcome.permit.id]
    var entry =
      known
      ?? Entry(held: HeldPermit(permit: outcome.permit, standing: .granted), at: now)
    if outcome.isSent {
      // What was sent counts, whatever the answer was.
      entry.isSent = true
      entry.held.standing = .granted
    }
    if outcome.isDone { entry.at = now }
    if entry.isSent {
      set(entry)
    } else if outcome.isDone {
      remove(outcome.permit)
    }
  }

  private mutating func grant(_ request: PermitChanges.Request, at now: Timestamp) {
    let permit = request.permit
    if var known = entries[permit.id] {
      known.at = max(known.at, request.validUntil)
      if known.held.standing == .granted { set(known) }
      return
    }
    for id in accounts[Account(permit)] ?? [] {
      if let old = entries[id], old.at <= now - permit.window { remove(old.held.permit) }
    }
    let since = now - request.cap.period
    let used = (accounts[Account(permit)] ?? []).count { id in
      entries[id].map { $0.held.standing == .granted && $0.at > since } ?? false
    }
    let isGranted = used < request.cap.count
    set(
      Entry(
        held: HeldPermit(permit: permit, standing: isGranted ? .granted : .refused),
        at: isGranted ? request.validUntil : now))
  }

  private mutating func set(_ entry: Entry) {
    entries[entry.held.permit.id] = entry
    accounts[Account(entry.held.permit), default: []].insert(entry.held.permit.id)
  }

  private mutating func remove(_ permit: Permit) {
    entries[permit.id] = nil
    accounts[Account(permit)]?.remove(permit.id)
  }
}
