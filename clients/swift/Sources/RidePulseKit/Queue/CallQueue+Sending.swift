import Foundation

extension CallQueue {
  /// Calls besides those of cards that are on their way at the same time.
  static let width = 4

  /// Failures that a backend answers to a sign-out before its person is registered again all the same.
  static let patience = 12

  /// What to do now.
  enum Step: Sendable {
    case send(Call)
    case wait(until: Date)
    case idle
  }

  /// Returns the next step; a call to send counts as on its way.
  mutating func next(at now: Date) -> Step {
    for call in calls where call.isExpired(at: now) && !inFlight.contains(call.key) {
      drop(call, because: "too old")
      calls.removeAll { $0.key == call.key }
    }
    let free = calls.indices.filter { isFree($0) }
    let due = free.filter { calls[$0].due(at: now) <= now }
    guard let index = due.min(by: { calls[$0].report.rank < calls[$1].report.rank }) else {
      return free.map { calls[$0].due(at: now) }.min().map(Step.wait) ?? .idle
    }
    calls[index].attempts += 1
    inFlight.insert(calls[index].key)
    return .send(calls[index])
  }

  /// Notes that a call leaves, after its headers were asked for; false if its session ended meanwhile, or if a
  /// newer report took its place: the server must not have a token that nothing withdraws.
  mutating func leaves(_ key: String) -> Bool {
    guard let index = calls.firstIndex(where: { $0.key == key }) else { return false }
    let call = calls[index]
    guard call.farewell == nil else { return true }
    guard call.session == session?.number, !isReplaced(call, behind: index) else { return false }
    session?.sent(call.report)
    return true
  }

  /// Notes the outcome of an attempt. `jitter` is from 0 to 1.
  mutating func finished(_ key: String, _ result: CallResult, at now: Date, jitter: Double) {
    inFlight.remove(key)
    guard let index = calls.firstIndex(where: { $0.key == key }) else { return }
    let call = calls[index]
    let isCurrent = call.session == session?.number
    switch result {
    case .done:
      calls.remove(at: index)
      if isCurrent { confirm(call.report, at: now) }
    case .refused(let reason):
      calls.remove(at: index)
      if isCurrent { session?.refused(call.report) }
      note(.refused(call.report.name, reason))
    case .failed(let reason, let retryAfter, let isAnswer):
      if isReplaced(call, behind: index) || call.farewell == nil && !isCurrent {
        calls.remove(at: index)
        return drop(call, because: isCurrent ? "replaced by a newer one" : "signed out")
      }
      let delay = Backoff.delay(attempts: call.attempts, jitter: jitter, retryAfter: retryAfter)
      if isAnswer { calls[index].answers += 1 }
      calls[index].notBefore = now.addingTimeInterval(delay)
      calls[index].isToldToWait = retryAfter != nil
      note(.retrying(call.report.name, reason, delay))
    }
  }

  /// Tries at once what the backend did not ask to wait: the app came to the foreground, or has a network.
  mutating func hurry() {
    for index in calls.indices where !calls[index].isToldToWait { calls[index].notBefore = nil }
  }

  func isReplaced(_ call: Call, behind index: Int) -> Bool {
    call.farewell == nil
      && calls[(index + 1)...].contains {
        $0.session == call.session && $0.report.slot == call.report.slot
      }
  }

  private mutating func confirm(_ report: Report, at now: Date) {
    guard let session else { return }
    let isNew =
      if case .phone(let phone) = report { session.phones[phone.lane]?.isConfirmed != true } else {
        false
      }
    self.session?.confirmed(report)
    guard case .phone(let phone) = report else { return }
    // The server has withdrawn what former persons had on this installation.
    for call in calls where Self.isFarewell(call, before: session, lane: phone.lane) {
      drop(call, because: "another person is registered")
    }
    calls.removeAll { Self.isFarewell($0, before: session, lane: phone.lane) }
    // A card that an earlier sign-out withdrew is live again only after its phone.
    if isNew, phone.lane == mainLane {
      for (_, card) in session.cards.sorted(by: { $0.key < $1.key })
      where !calls.contains(where: { $0.report.slot == Report.card(card).slot }) {
        add(.card(card), at: now)
      }
    }
  }

  private var mainLane: String { "phone \(identity.app)" }

  private static func isFarewell(_ call: Call, before session: Session, lane: String) -> Bool {
    call.farewell != nil && call.session < session.number && call.lane == lane
  }

  /// Whether nothing has to be over before the call is sent.
  private func isFree(_ index: Int) -> Bool {
    let call = calls[index]
    guard !inFlight.contains(call.key) else { return false }
    let others = calls.filter { inFlight.contains($0.key) }
    if call.report.rank > 0, call.farewell == nil,
      others.count(where: { $0.report.rank > 0 }) >= Self.width
    {
      return false
    }
    if call.farewell != nil {
      // Never behind a registration that may have taken its place, or is about to.
      return session?.phones[call.lane]?.isRefused != false
        && !others.contains {
          $0.farewell == nil && ($0.session <= call.session || $0.lane == call.lane)
        }
    }
    guard let session, call.session == session.number,
      !others.contains(where: { $0.session < session.number }),
      !calls[..<index].contains(where: { $0.lane == call.lane && $0.farewell == nil })
    else { return false }
    switch call.report {
    case .start: return isReady(after: session) && session.phones[mainLane]?.isConfirmed == true
    case .phone, .card: return isReady(after: session)
    default: return true
    }
  }

  /// A sign-out withdraws all that its person has: what the same person registers afterwards waits for it.
  private func isReady(after session: Session) -> Bool {
    !calls.contains {
      $0.farewell != nil && $0.owner == session.owner && $0.answers < Self.patience
    }
  }
}
