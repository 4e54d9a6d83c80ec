package import Base

/// A span of OpenTelemetry: a piece of work about an event, with its times.
package struct TraceSpan: Hashable, Sendable {
  /// The numbers are those of OTLP.
  package enum Kind: Int64, Hashable, Sendable {
    /// It calls another service.
    case client = 3
    /// It handles a message.
    case consumer = 5
  }

  package struct Attribute: Hashable, Sendable {
    package enum Value: Hashable, Sendable {
      case text(String)
      case number(Int64)
    }

    package var key: String
    package var value: Value

    package init(_ key: String, _ text: String) { (self.key, value) = (key, .text(text)) }

    package init(_ key: String, _ number: Int) { (self.key, value) = (key, .number(Int64(number))) }
  }

  /// Something within a span that has no duration.
  package struct Event: Hashable, Sendable {
    package var name: String
    package var at: Timestamp
    package var attributes: [Attribute]
  }

  package var traceID: UInt128
  package var id: UInt64
  /// The span that it is a part of; nil for a root.
  package var parentID: UInt64?
  package var name: String
  package var kind: Kind
  package var start: Timestamp
  package var end: Timestamp
  package var attributes: [Attribute] = []
  package var events: [Event] = []
  /// The app's span, of a span in a trace of its own.
  package var link: TraceParent?
  package var isError = false
  /// The push that it made, if that was accepted: a receipt of it may come.
  package private(set) var acceptedPush: TracedPush?
}

extension TraceSpan {
  /// Records that its push was accepted.
  mutating func accept(_ push: PushID, of app: App) {
    acceptedPush = TracedPush(push, TraceParent(traceID: traceID, spanID: id), app)
  }

  /// Returns an ID that only depends on these parts: a repeated attempt has the same one, on any node.
  static func id(of parts: String...) -> UInt64 { UInt64(truncatingIfNeeded: hash(parts) >> 64) }

  /// The same for a trace.
  static func traceID(of parts: String...) -> UInt128 { hash(parts) }

  /// The first 16 bytes of SHA-256; OpenTelemetry has no ID 0.
  private static func hash(_ parts: [String]) -> UInt128 {
    let bytes = SHA256.digest(parts.joined(separator: " ").utf8)
    let number = bytes.prefix(16).reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
    return number >> 64 == 0 ? 1 << 64 : number
  }

  /// Returns the ID of an attempt of a push.
  package static func id(of push: PushID, attempt: Int) -> UInt64 {
    id(of: push.description, String(attempt))
  }
}

/// A push whose receipt belongs to a trace.
package struct TracedPush: Hashable, Sendable {
  package var push: PushID
  /// The span of the attempt that was accepted.
  package var parent: TraceParent
  package var app: App

  package init(_ push: PushID, _ parent: TraceParent, _ app: App) {
    (self.push, self.parent, self.app) = (push, parent, app)
  }

  /// Returns the span of its receipt.
  package func receipt(at seen: Timestamp) -> TraceSpan {
    TraceSpan(
      traceID: parent.traceID, id: TraceSpan.id(of: push.description, "seen"),
      parentID: parent.spanID,
      name: "seen \(app)", kind: .consumer, start: seen, end: seen,
      attributes: [
        TraceSpan.Attribute("messaging.system", "ridepulse"),
        TraceSpan.Attribute("messaging.operation.name", "seen"),
        TraceSpan.Attribute("messaging.operation.type", "receive"),
        TraceSpan.Attribute("messaging.destination.name", app.rawValue),
        TraceSpan.Attribute("messaging.message.id", push.description),
      ])
  }
}
