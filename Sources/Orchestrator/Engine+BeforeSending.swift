import Base
import RideCore

// What rides need before they may send: permits, and a journal of what must not repeat.
extension Engine {
  /// Asks for the permits that pushes need, and decides rides with a refusal again.
  ///
  /// - Returns: the rides that must not send: another node holds them by now, or that is unknown.
  ///   They fall due again when their lease ends.
  func askForPermits(
    _ decisions: inout [(RideClaim, Decision)], by configuration: EngineConfiguration,
    now: Timestamp
  ) async -> Set<RideID> {
    var blocked: Set<RideID> = []
    while true {
      let asking = decisions.indices.filter { !decisions[$0].1.permitRequests.isEmpty }
      if asking.isEmpty { return blocked }
      let requests = asking.map {
        ClaimedRequests(claim: decisions[$0].0, requests: decisions[$0].1.permitRequests)
      }
      let answer = await prepare(.permits, rides: requests.count) {
        try await parts.store.grant(requests)
      }
      guard let answer else { return blocked.union(requests.map(\.claim.rideID)) }
      logLost(answer.lost)
      blocked.formUnion(answer.lost)
      for index in asking {
        let (claim, decision) = decisions[index]
        decisions[index].1.permitRequests = []
        var view = decision.view
        let isRefused = view.answer(decision.permitRequests, answer.refused)
        guard isRefused, !blocked.contains(claim.rideID),
          let again = decide([(claim, view)], by: configuration, now: now).first
        else { continue }
        decisions[index] = again
      }
    }
  }

  /// Journals what must not repeat before it is sent.
  ///
  /// - Returns: the rides that must not send, as `askForPermits` returns them.
  func journal(_ decisions: [(RideClaim, Decision)], now: Timestamp) async -> Set<RideID> {
    let memos = decisions.compactMap { claim, decision in
      decision.journal(now: now).map { ClaimedMemo(claim: claim, memo: $0) }
    }
    if memos.isEmpty { return [] }
    let lost = await prepare(.journal, rides: memos.count) {
      try await parts.store.journal(memos)
    }
    logLost(lost ?? [])
    return Set(lost ?? memos.map(\.claim.rideID))
  }

  private func logLost(_ rides: [RideID]) {
    if rides.isEmpty { return }
    parts.log(.warning, .leasesLostBeforeSending, ["rides": rides.count])
  }

  /// Runs a call that rides need before they may send, and repeats it if it fails.
  ///
  /// - Returns: nil if it failed each time: the rides are left to their lease.
  private func prepare<Value>(
    _ name: EngineCall, rides: Int, _ call: () async throws -> Value
  ) async -> Value? {
    for failures in 0..<settings.journalAttempts {
      beginTurn(.claiming)
      begin(name)
      do {
        let value = try await call()
        recordSuccess(of: name)
        return value
      } catch {
        let delay = Self.failing.delay(failures: failures, random: Double.random(in: 0.1..<1))
        if recordFailure(error, of: name) {
          parts.log(
            .warning, .callBeforeSendingFailed,
            ["call": name.plural, "rides": rides, "error": "\(error)", "in": delay])
        }
        if isStopping { break }
        try? await parts.clock.sleep(for: delay)
      }
    }
    parts.log(.error, .ridesLeftByCall, ["call": name.plural, "rides": rides])
    return nil
  }
}
