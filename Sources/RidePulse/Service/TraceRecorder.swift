import AdminServer
import Base
import PostgresStore
import PushClient
import RideCore
import Synchronization

/// Exports the spans of settled rides, and those of the receipts that come later.
final class TraceRecorder: Sendable {
  /// The maximum number of pushes that wait to be recorded; the receipts of others are not exported.
  private static let limit = 10_000
  /// The maximum number of receipts that one pass exports.
  private static let receiptLimit = 1000

  private let exporter: SpanExporter
  private let pool: SessionPool
  /// Accepted pushes that are not recorded yet.
  private let accepted = Mutex<[TracedPush]>([])

  /// Begins to export to where the environment says; nil if it names nothing.
  ///
  /// - Throws: `CommandFailure` that names the invalid variable or file.
  init?(
    _ environment: [String: String], node: String, pool: SessionPool,
    now: @escaping @Sendable () -> Timestamp, _ log: Log
  ) throws(CommandFailure) {
    let variables = try TraceVariables(environment, node: node)
    for warning in variables.warnings {
      log(.warning, .telemetryVariableIgnored, ["problem": warning])
    }
    guard let target = variables.target else { return nil }
    log(.info, .exportingSpans, ["url": target.url])
    let failures = FailureLog(.spansNotExported, log)
    self.pool = pool
    exporter = SpanExporter(to: target, now: now) { problem in
      if let problem {
        failures.failed(SpanFailure(description: problem))
      } else {
        failures.succeeded()
      }
    }
  }

  var counts: SpanCounts { exporter.counts }

  /// Receives the spans of settled rides. Returns at once.
  func handle(_ spans: [TraceSpan]) {
    if spans.isEmpty { return }
    exporter.add(spans)
    let pushes = spans.compactMap(\.acceptedPush)
    if pushes.isEmpty { return }
    accepted.withLock { $0 += pushes.prefix(max(0, Self.limit - $0.count)) }
  }

  /// Records accepted pushes, so that any node finds their receipts, and exports the receipts that came;
  /// returns whether none is left.
  func exchangeReceipts() async throws -> Bool {
    let pushes = accepted.withLock { pushes in
      defer { pushes = [] }
      return pushes
    }
    let seen: [(push: TracedPush, at: Timestamp)]
    do {
      seen = try await pool.with(.short) { session in
        let store = TracedPushStore(session: session)
        try await store.add(pushes)
        return try await store.takeSeen(atMost: Self.receiptLimit)
      }
    } catch {
      accepted.withLock { $0 = Array((pushes + $0).prefix(Self.limit)) }
      throw error
    }
    exporter.add(seen.map { $0.push.receipt(at: $0.at) })
    return seen.count < Self.receiptLimit
  }

  /// Records and exports what is left, within a time limit.
  func close(within limit: Duration) async {
    let timer = Task {
      try? await Task.sleep(for: limit)
      if !Task.isCancelled { await pool.close(limit: .zero) }
    }
    _ = try? await exchangeReceipts()
    timer.cancel()
    await exporter.close(within: limit)
  }
}

extension SpanCounts {
  /// - Parameter counts: Nil if no spans are exported.
  static func family(_ counts: SpanCounts?) -> MetricFamily {
    var family = MetricFamily(
      .counter, "ridepulse_spans_total",
      "Spans by outcome: exported, dropped because the queue was full, or failed.")
    guard let counts else { return family }
    for (outcome, count) in [
      ("exported", counts.exported), ("dropped", counts.dropped), ("failed", counts.failed),
    ] {
      family.add(Double(count), [.init("outcome", outcome)])
    }
    return family
  }
}

private struct SpanFailure: Error, CustomStringConvertible {
  let description: String
}
