/// Records the events of a part of the service, with data as fields.
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

  package typealias Fields = KeyValuePairs<String, any LogValue>

  private let sink: @Sendable (Level, LogEvent, Fields) -> Void

  /// Creates a log that passes each record to `sink`, which may be called on any thread.
  package init(_ sink: @escaping @Sendable (Level, LogEvent, Fields) -> Void) {
    self.sink = sink
  }

  /// Records an event.
  ///
  /// No field may hold a token, a key or a payload.
  package func callAsFunction(_ level: Level, _ event: LogEvent, _ fields: Fields = [:]) {
    sink(level, event, fields)
  }
}

/// A value of a field in a log record: a text, or a number, which is one in JSON too.
package protocol LogValue: Sendable {
  var logged: JSONValue { get }
}

extension String: LogValue {
  package var logged: JSONValue { .string(self) }
}

extension LogValue where Self: FixedWidthInteger {
  package var logged: JSONValue { .integer(Int64(clamping: self)) }
}

extension Int: LogValue {}
extension Int32: LogValue {}
extension Int64: LogValue {}
extension UInt16: LogValue {}

extension Duration: LogValue {
  /// Seconds.
  package var logged: JSONValue { .number(inSeconds) }
}
