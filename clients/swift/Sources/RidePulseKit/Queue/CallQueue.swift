import Foundation

/// The calls that wait, and the session that they belong to: a value without clock, disk or network.
///
/// Calls of one lane are sent in order, a newer report of a slot replaces an older one that waits, and
/// no other call waits for one that fails. Registrations of a session that ended are never sent.
/// Decision 108 has the rules between sessions.
struct CallQueue: Codable, Sendable {
  static let version = 1

  private(set) var version = CallQueue.version
  var session: Session?
  var lastSession = 0
  var calls: [Call] = []
  /// The installation that stored the queue.
  private var installation: String?

  /// Keys of calls that are on their way. A process that starts has none.
  var inFlight: Set<String> = []
  private(set) var identity = Identity()
  private var keyCount = 0
  private var events: [KitEvent] = []

  private enum CodingKeys: String, CodingKey {
    case version, session, lastSession, calls, installation
  }

  /// What each call of this process states.
  struct Identity: Sendable {
    var app = ""
    var installation: String?
    var environment: PushEnvironment?
    /// A text that no other process of any phone has, with which the keys of calls begin.
    var process = ""
  }

  /// Continues after a start of the process. What was on its way when a session ended is not repeated.
  mutating func begin(_ identity: Identity) {
    self.identity = identity
    identify(identity.installation)
    for call in calls where call.farewell == nil && call.session != session?.number {
      drop(call, because: "signed out")
    }
    calls.removeAll { $0.farewell == nil && $0.session != session?.number }
    // One that was on its way, and a newer one behind it.
    for index in calls.indices.reversed() where isReplaced(calls[index], behind: index) {
      drop(calls.remove(at: index), because: "replaced by a newer one")
    }
  }

  /// Takes the installation's ID; nil means that it is not known yet.
  mutating func identify(_ current: String?) {
    // A backup that was restored on another phone: these tokens are not this one's.
    if let installation, let current, installation != current {
      for call in calls { drop(call, because: "another installation") }
      (session, calls) = (nil, [])
    }
    installation = current ?? installation
    identity.installation = installation
  }

  /// Begins a session, or goes on with that of the same person.
  mutating func signIn(_ owner: String, formerHeaders: [String: String]?, at now: Date) {
    if session?.owner == owner { return }
    if session != nil { signOut(headers: formerHeaders, at: now) }
    lastSession += 1
    session = Session(number: lastSession, owner: owner)
  }

  /// Ends the session: what waits is dropped, and what the server may have is withdrawn.
  mutating func signOut(headers: [String: String]?, at now: Date) {
    guard let ended = session else { return }
    session = nil
    for call in calls where call.session == ended.number && !inFlight.contains(call.key) {
      drop(call, because: "signed out")
    }
    calls.removeAll { $0.session == ended.number && !inFlight.contains($0.key) }
    for (report, lane) in ended.farewells(app: identity.app) {
      calls.append(
        call(report, of: ended, lane: lane, farewell: Farewell(headers: headers), at: now))
    }
  }

  /// Adds a report of the present session, in the place of an older one of its slot.
  mutating func add(_ report: Report, at now: Date) {
    guard let session else { return events.append(.dropped(report.name, "nobody is signed in")) }
    withdrawRotated(by: report, at: now)
    let new = call(report, of: session, lane: report.lane, farewell: nil, at: now)
    let old = calls.firstIndex {
      $0.session == session.number && $0.report.slot == report.slot && !inFlight.contains($0.key)
    }
    guard let old else { return calls.append(new) }
    // A change that the server has not seen is tried at once; the same again keeps its pause.
    if calls[old].asksTheSame(as: new), report.lifetime == nil { return }
    calls[old] = new
  }

  /// Reports the end of cards that went while the app did not run: those that are not among `present`.
  mutating func cardsPresent(_ present: Set<String>, at now: Date) {
    guard let session else { return }
    let waiting = calls.compactMap { call -> String? in
      guard call.session == session.number, case .card(let card) = call.report else { return nil }
      return card.activityID
    }
    for id in Set(waiting).union(session.cards.keys).subtracting(present).sorted() {
      add(.endCard(id), at: now)
    }
  }

  /// Returns the reports after which an app has these controls, and no others that it had.
  func controls(_ tokens: Set<String>, of app: String) -> [Report] {
    var known: Set<String> = []
    for phone in session?.phones.values ?? [:].values where phone.app == app {
      known.formUnion(phone.tokens)
    }
    for case .phone(let phone) in calls.filter({ $0.session == session?.number }).map(\.report)
    where phone.app == app {
      known.insert(phone.token)
    }
    let phones = tokens.sorted().map { PhoneReport(app: app, token: $0, isOnlyOne: false) }
    let gone = known.subtracting(tokens).sorted().map {
      PhoneReport(app: app, token: $0, isOnlyOne: false)
    }
    return gone.map { .withdrawPhone(app: app, token: $0.token, lane: $0.lane) }
      + phones.map(Report.phone)
  }

  /// Reports the tokens that an extension left, unless the server has exactly these.
  mutating func add(_ left: TokenFolder.Tokens, at now: Date) {
    let reports =
      left.areControls
      ? controls(Set(left.tokens), of: left.app)
      : left.tokens.map { .phone(PhoneReport(app: left.app, token: $0)) }
    for report in reports where !isLast(report) { add(report, at: now) }
  }

  /// Whether a report is the last of its lane: one that waits, is on its way, or was confirmed.
  private func isLast(_ report: Report) -> Bool {
    let last = calls.last {
      $0.session == session?.number && $0.farewell == nil && $0.lane == report.lane
    }
    if let last { return last.report == report }
    guard case .phone(let phone) = report, let known = session?.phones[phone.lane] else {
      return false
    }
    return known.isConfirmed && known.tokens == [phone.token]
  }

  /// Returns the events since the last time.
  mutating func takeEvents() -> [KitEvent] {
    defer { events = [] }
    return events
  }

  mutating func drop(_ call: Call, because reason: String) {
    events.append(.dropped(call.report.name, reason))
  }

  mutating func note(_ event: KitEvent) { events.append(event) }

  /// A start token that another one follows is withdrawn: the server keeps all that it is given.
  private mutating func withdrawRotated(by report: Report, at now: Date) {
    switch report {
    case .start(let type, let token):
      dropWaiting(.withdrawStart(type: type, token: token))
      for old in session?.starts[type] ?? [] where old != token {
        add(.withdrawStart(type: type, token: old), at: now)
      }
    case .withdrawStart(let type, let token):
      dropWaiting(.start(type: type, token: token))
    case .phone(let phone):
      dropWaiting(.withdrawPhone(app: phone.app, token: phone.token, lane: phone.lane))
    case .withdrawPhone(_, _, let lane):
      calls.removeAll {
        if case .phone = $0.report {
          $0.lane == lane && $0.farewell == nil && !inFlight.contains($0.key)
        } else {
          false
        }
      }
    default: break
    }
  }

  private mutating func dropWaiting(_ report: Report) {
    calls.removeAll { $0.report == report && $0.farewell == nil && !inFlight.contains($0.key) }
  }

  private mutating func call(
    _ report: Report, of session: Session, lane: String, farewell: Farewell?, at now: Date
  ) -> Call {
    keyCount += 1
    let parts = RequestParts(report, owner: session.owner, identity: identity)
    return Call(
      key: "\(identity.process)-\(keyCount)", session: session.number, owner: session.owner,
      report: report, lane: lane, method: parts.method, path: parts.path, body: parts.body,
      madeAt: now, farewell: farewell)
  }
}
