import Base
import RideCore
import Synchronization

/// A push that waited for so long that its recipient must be read again.
struct OutdatedPush: Sendable {
  var request: PushRequest
  /// The uptime since which it waits for that.
  var since: Duration
  /// How many reads in a row took so long that their answers were outdated, too.
  var lateReads = 0

  /// The number of such reads after which the push is handed back.
  static let maximumLateReads = 3
}

extension PushRequest {
  /// Whether what was known of the recipient is too old to send it.
  func isOutdated(at now: Timestamp) -> Bool { freshUntil.map { $0 <= now } ?? false }
}

// Pushes that could not be sent within a second of their decision: meanwhile the person may have
// signed out, or handed the phone on.
extension Engine {
  /// Reads the recipients of outdated pushes again, all that wait in one call, and submits the
  /// pushes whose recipients are unchanged.
  func readRecipientsUntilSettled() async {
    while true {
      let (outdated, hasSettled) = state.withLock { state in
        defer { state.outdated = [] }
        return (state.outdated, state.hasSettled)
      }
      if !outdated.isEmpty {
        await readRecipients(of: outdated)
      } else if hasSettled {
        return
      } else {
        await recipientSignal.wait(on: parts.clock)
      }
    }
  }

  /// Removes reports of pushes that were not sent because they are outdated: their recipients are
  /// read again, or they end because their lane is silent.
  func removeOutdated(_ reports: [PushReport]) -> [PushReport] {
    guard reports.contains(where: { $0.timeLeft != nil }) else { return reports }
    let now = time.now
    let uptime = time.uptime()
    let found = parts.transport.reachability()
    let connected = Set(found.filter { $0.value == .connected }.keys)
    let ended = state.withLock { state in
      reports.compactMap { report in
        guard let left = report.timeLeft, state.inFlight.removeWithdrawn(report.ticket) == nil,
          var request = state.inFlight.request(of: report.ticket)
        else { return Ended?.none }
        if let ended = state.returned(report.ticket, connected: connected, at: uptime, now: now) {
          return ended
        }
        request.sendWithin = left
        state.outdated.append(OutdatedPush(request: request, since: uptime))
        return nil
      }
    }
    recipientSignal.notify()
    for (_, lane, change) in ended {
      guard let change else { continue }
      let isConnected = connected.contains(lane.network)
      logLaneChange(
        lane, change, .unsent(isConnected ? .queuedTooLong : .noConnection("no stream in time")),
        at: now)
    }
    return reports.filter { $0.timeLeft == nil } + ended.map(\.report)
  }

  private typealias Ended = (report: PushReport, lane: PushLane, change: CircuitBreaker.Change?)

  private func readRecipients(of outdated: [OutdatedPush]) async {
    let (why, recipients) = state.withLock { state in
      (
        state.isStopping || state.settling.halt != nil
          ? HandBack.recipientUnread : state.reach.isAside ? .noRoute : nil,
        outdated.map { state.inFlight.push(of: $0.request.ticket)?.readRecipient }
      )
    }
    if let why { return handBack(outdated, why) }
    // From the question on, because the answer may be as old.
    let freshUntil = time.now + PushRequest.freshness
    let unchanged: Set<PushRecipient>
    do {
      unchanged = try await parts.store.unchanged(Array(Set(recipients.compactMap(\.self))))
    } catch {
      parts.log(.warning, .phonesNotRead, ["pushes": outdated.count, "error": "\(error)"])
      return handBack(outdated, .recipientUnread)
    }
    if freshUntil <= time.now { return readAgain(outdated) }
    let uptime = time.uptime()
    var gone: [OutdatedPush] = []
    var late: [OutdatedPush] = []
    var requests: [PushRequest] = []
    for (push, recipient) in zip(outdated, recipients) {
      if let recipient, !unchanged.contains(recipient) {
        gone.append(push)
        continue
      }
      var request = push.request
      request.freshUntil = freshUntil
      request.sendWithin = request.sendWithin.map { $0 - (uptime - push.since) }
      if let left = request.sendWithin, left <= .zero {
        late.append(push)
      } else {
        requests.append(request)
      }
    }
    submit(requests, at: time.now)
    handBack(late, .recipientUnread)
    handBack(gone, .recipientChanged)
  }

  /// Reads recipients once more, because the answer took so long that it is outdated itself.
  private func readAgain(_ outdated: [OutdatedPush]) {
    var again = outdated
    for index in again.indices { again[index].lateReads += 1 }
    let isOver: (OutdatedPush) -> Bool = { $0.lateReads >= OutdatedPush.maximumLateReads }
    let waiting = again.filter { !isOver($0) }
    state.withLock { $0.outdated += waiting }
    handBack(again.filter(isOver), .recipientUnread)
  }

  /// Ends pushes unsent: their rides are decided again at once, from the phones as they are.
  private func handBack(_ pushes: [OutdatedPush], _ why: HandBack) {
    if pushes.isEmpty { return }
    record(
      pushes.map { PushReport(ticket: $0.request.ticket, outcome: .unsent(.handedBack(why))) })
  }
}

extension PushReport {
  /// How long the push may still wait if it was not sent because it is outdated; otherwise nil.
  fileprivate var timeLeft: Duration? {
    if case .unsent(.outdated(let left)) = outcome { left } else { nil }
  }
}
