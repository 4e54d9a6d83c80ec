import RideCore

/// Something that was to be found out.
enum Probe<Value: Sendable>: Sendable {
  case known(Value)
  /// It can't be known; the text says why, without a secret.
  case failed(String)
  /// Nobody asked, since something else is missing that this needs.
  case unasked

  var value: Value? {
    if case .known(let value) = self { value } else { nil }
  }
}

extension Probe {
  /// Finds it out within a limit; whatever takes longer is left behind.
  ///
  /// The limit holds even where the work can't be ended, such as a look-up of a name.
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
