import RideCore

/// The result of one probe.
enum Probe<Value: Sendable>: Sendable {
  case known(Value)
  /// The value could not be read; the text is the reason, without a secret.
  case failed(String)
  /// The probe did not run, because something that it needs is missing.
  case unasked

  var value: Value? {
    if case .known(let value) = self { value } else { nil }
  }
}

extension Probe {
  /// Runs `work` within a time limit, and abandons it if it takes longer.
  ///
  /// The limit holds even if the work can't be cancelled, such as a name lookup.
  static func find(
    within limit: Duration, _ work: @escaping @Sendable () async throws -> Value
  ) async -> Probe {
    let (answers, feed) = AsyncStream.makeStream(of: Probe.self)
    let worker = Task {
      do { feed.yield(.known(try await work())) } catch { feed.yield(.failed("\(error)")) }
    }
    let timer = Task {
      guard (try? await Task.sleep(for: limit)) != nil else { return }
      feed.yield(.failed("no answer within \(limit.rideText)"))
    }
    defer {
      worker.cancel()
      timer.cancel()
    }
    for await answer in answers { return answer }
    return .unasked
  }
}
