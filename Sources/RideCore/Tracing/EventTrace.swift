package import Base

/// The app's span in which an event was emitted; only a sampled one is kept.
package struct EventTrace: Hashable, Sendable {
  package var event: EventKey
  package var parent: TraceParent

  package init(_ event: EventKey, _ parent: TraceParent) {
    self.event = event
    self.parent = parent
  }

  /// Nil for a `traceparent` that is malformed, or not sampled.
  package init?(_ event: EventKey, _ text: String) {
    guard let parent = TraceParent(text), parent.isSampled else { return nil }
    self.init(event, parent)
  }
}

extension EventTrace: StoredObject {
  package static var blank: EventTrace {
    EventTrace(RideEvent.blank.key, TraceParent(traceID: 1, spanID: 1))
  }

  package mutating func visit(_ fields: inout some StoredFields) throws(StoredFault) {
    try fields.field("id", &event.id)
    try fields.field("at", &event.at)
    try fields.field("parent", &parent)
  }
}

extension Decision {
  /// Whether an event that it handles, or that something in the memo is about, has a trace.
  package var isTraced: Bool { !view.traces.isEmpty || !view.memo.traces.isEmpty }

  /// Of an event that is in both lists, that of the view.
  var traces: [EventKey: EventTrace] {
    Dictionary(
      (view.traces + view.memo.traces).map { ($0.event, $0) },
      uniquingKeysWith: { first, _ in first })
  }
}

extension Memo {
  /// Keeps the traces of the events that something in the memo is about.
  mutating func keep(_ traces: [EventKey: EventTrace]) {
    var events = Set(waiting.map(\.entry.event.key))
    for card in cards.values where card.retryAt != nil {
      events.formUnion([card.subject, card.cause].compactMap { $0?.key })
    }
    self.traces = traces.values.filter { events.contains($0.event) }
      .sorted { ($0.event.id, $0.event.at) < ($1.event.id, $1.event.at) }
  }
}
