/// Records the events of a part of the service: a fixed message, with data as fields.
package struct Log: Sendable {
  /// The severity of a record.
  package enum Level: Int, Comparable, Sendable, CaseIterable {
    /// For finding faults in RidePulse itself.
    case debug
    /// Part of normal operation.
    case info
    /// A fault from which the service recovers by itself.
    case warning
    /// A fault that requires a person to act.
    case error

    /// Orders levels by severity, the lowest first.
    package static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
  }

  private let sink: @Sendable (Level, String, [(String, String)]) -> Void

  /// Creates a log that passes each record to `sink`, which may be called on any thread.
  package init(_ sink: @escaping @Sendable (Level, String, [(String, String)]) -> Void) {
    self.sink = sink
  }

  /// Records an event.
  ///
  /// No field may hold a token, a key or a payload.
  package func callAsFunction(
    _ level: Level, _ message: StaticString, _ fields: KeyValuePairs<String, String> = [:]
  ) {
    sink(level, "\(message)", fields.map { ($0.key, $0.value) })
  }
}
