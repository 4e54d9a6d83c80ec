/// Where a part of the service says what happened: a fixed message, and data as fields.
package struct Log: Sendable {
  /// How much it matters.
  package enum Level: Int, Comparable, Sendable, CaseIterable {
    /// For whoever looks for a fault in RidePulse itself.
    case debug
    /// Worth knowing.
    case info
    /// Wrong, and the service helps itself.
    case warning
    /// Wrong, and somebody must act.
    case error

    /// Less important first.
    package static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
  }

  private let sink: @Sendable (Level, String, [(String, String)]) -> Void

  /// A log that hands each record on; `sink` may be called on any thread.
  package init(_ sink: @escaping @Sendable (Level, String, [(String, String)]) -> Void) {
    self.sink = sink
  }

  /// Says that something happened. No field may hold a token, a key or a payload.
  package func callAsFunction(
    _ level: Level, _ message: StaticString, _ fields: KeyValuePairs<String, String> = [:]
  ) {
    sink(level, "\(message)", fields.map { ($0.key, $0.value) })
  }
}
