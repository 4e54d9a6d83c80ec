package import Base

/// Builds the spans of one decision about a ride, once its pushes have ended: one of each event that
/// has a trace, and one of each attempt of its pushes.
package struct SpanBuilder {
  /// What a decision made of one event.
  private struct Pass {
    var trace: EventTrace
    var name: String
    /// Whether it is the event's first pass; a later one is about what an earlier one left.
    var isFirst: Bool
    /// Whether the event is consumed: a decision that was split handles it again.
    var isOver: Bool
    var attempts: [Attempt] = []
    /// What ended without an attempt in this pass.
    var others: [LedgerEntry] = []
  }

  private struct Attempt {
    /// The index among the decision's pushes.
    var index: Int
    var entry: LedgerEntry
  }

  /// An event that waited longer, as after an outage, begins a trace of its own: the app's ended long
  /// ago, and tools no longer wait for more of it.
  package static let childAge: Duration = .seconds(60)
  /// The maximum number of events in a span.
  static let eventLimit = 32

  private let decision: Decision
  private let outcomes: [PushOutcome]
  private let times: PassTimes
  private let endedAt: Timestamp
  /// Nil for a pseudo ride, whose ID is made of a person's or a phone's.
  private let ride: RideID?

  private init(
    _ decision: Decision, _ outcomes: [PushOutcome], _ times: PassTimes, now: Timestamp
  ) {
    self.decision = decision
    self.outcomes = outcomes
    self.times = times
    endedAt = now
    let id = decision.view.rideID
    ride = id.isOfPerson || RawPush.Source(of: id) != nil ? nil : id
  }

  /// Returns the spans of a decision whose settlement is complete.
  ///
  /// - Parameters:
  ///   - outcomes: Those of the decision's pushes.
  ///   - now: When they had ended.
  package static func spans(
    of decision: Decision, _ outcomes: [PushOutcome], _ times: PassTimes, now: Timestamp
  ) -> [TraceSpan] {
    let builder = SpanBuilder(decision, outcomes, times, now: now)
    return builder.passes().flatMap { builder.spans(of: $0) }
  }

  private func passes() -> [Pass] {
    let traces = decision.traces
    let settlement = decision.settlement
    let fresh = Dictionary(
      decision.view.events.map { ($0.key, $0.name) }, uniquingKeysWith: { first, _ in first })
    let consumed = Set(settlement.consumed)
    var passes: [EventKey: Pass] = [:]
    func update(_ event: EventKey, _ name: String, _ change: (inout Pass) -> Void) {
      guard let trace = traces[event] else { return }
      let isFirst = fresh[event] != nil
      change(
        &passes[
          event,
          default: Pass(
            trace: trace, name: name, isFirst: isFirst,
            isOver: !isFirst || consumed.contains(event))])
    }
    for event in settlement.consumed { update(event, fresh[event] ?? "") { _ in } }
    let settled = Dictionary(
      settlement.entries.map { ($0.id, $0) }, uniquingKeysWith: { _, last in last })
    for (index, push) in decision.pushes.enumerated() {
      guard let entry = settled[push.entry.id], entry.attempts > push.entry.attempts else {
        continue
      }
      update(entry.event.key, entry.event.name) {
        $0.attempts.append(Attempt(index: index, entry: entry))
      }
    }
    let tried = Set(passes.values.flatMap(\.attempts).map(\.entry.id))
    for entry in settlement.entries where entry.status != .pending && !tried.contains(entry.id) {
      update(entry.event.key, entry.event.name) { $0.others.append(entry) }
    }
    return passes.values.sorted { $0.trace.event.id < $1.trace.event.id }
  }

  private func spans(of pass: Pass) -> [TraceSpan] {
    let event = pass.trace.event
    let parent = pass.trace.parent
    let seed = pass.isFirst ? "event \(event.id) \(event.at.microseconds)" : laterSeed(pass)
    let isChild = pass.isFirst && times.decidedAt - event.at < Self.childAge
    var span = TraceSpan(
      traceID: isChild ? parent.traceID : TraceSpan.traceID(of: "trace", seed),
      id: TraceSpan.id(of: "process", seed), parentID: isChild ? parent.spanID : nil,
      name: "process \(pass.name)", kind: .consumer, start: times.decidedAt,
      end: max(times.decidedAt, endedAt))
    span.link = isChild ? nil : parent
    span.attributes =
      [
        TraceSpan.Attribute("messaging.system", "ridepulse"),
        TraceSpan.Attribute("messaging.operation.name", "process"),
        TraceSpan.Attribute("messaging.operation.type", "process"),
        TraceSpan.Attribute("messaging.destination.name", pass.name),
        TraceSpan.Attribute("messaging.message.id", String(event.id)),
      ] + ofRide
    span.events = pass.others.prefix(Self.eventLimit).map { entry in
      var attributes = [
        TraceSpan.Attribute("ridepulse.rule", entry.rule),
        TraceSpan.Attribute("messaging.destination.name", entry.app.rawValue),
        TraceSpan.Attribute("ridepulse.type", entry.typeName),
      ]
      if let reason = reason(of: entry) {
        attributes.append(TraceSpan.Attribute("ridepulse.reason", reason))
      }
      return TraceSpan.Event(
        name: entry.status.rawValue, at: times.decidedAt, attributes: attributes)
    }
    let attempts = pass.attempts.map { attempt(of: $0, in: span) }
    return (pass.isOver ? [span] : []) + attempts
  }

  /// Returns what identifies a later pass about an event: its first push.
  private func laterSeed(_ pass: Pass) -> String {
    let entry = pass.attempts.first?.entry ?? pass.others.first
    return entry.map { "later \($0.id) \($0.attempts)" } ?? "later"
  }

  private func attempt(of attempt: Attempt, in pass: TraceSpan) -> TraceSpan {
    let entry = attempt.entry
    let push = decision.pushes[attempt.index]
    let start = times.sentAt(attempt.index)
    var span = TraceSpan(
      traceID: pass.traceID, id: TraceSpan.id(of: entry.id, attempt: entry.attempts),
      parentID: pass.id,
      name: "publish \(entry.app)", kind: .client, start: start,
      end: max(start, times.answeredAt(attempt.index)))
    span.attributes =
      [
        TraceSpan.Attribute("messaging.system", push.messagingSystem),
        TraceSpan.Attribute("messaging.operation.name", "publish"),
        TraceSpan.Attribute("messaging.operation.type", "send"),
        TraceSpan.Attribute("messaging.destination.name", entry.app.rawValue),
        TraceSpan.Attribute("messaging.message.id", entry.id.description),
        TraceSpan.Attribute("ridepulse.attempt", entry.attempts),
        TraceSpan.Attribute("ridepulse.rule", entry.rule),
        TraceSpan.Attribute("ridepulse.status", entry.status.rawValue),
        TraceSpan.Attribute("ridepulse.type", entry.typeName),
      ] + ofRide
    let outcome = outcomes.indices.contains(attempt.index) ? outcomes[attempt.index] : .accepted
    if outcome == .accepted {
      if entry.kind == .push { span.accept(entry.id, of: entry.app) }
      return span
    }
    span.isError = true
    span.attributes.append(TraceSpan.Attribute("error.type", reason(of: entry) ?? "_OTHER"))
    if case .refused(let refusal) = outcome {
      span.attributes.append(TraceSpan.Attribute("http.response.status_code", refusal.status))
    }
    return span
  }

  private var ofRide: [TraceSpan.Attribute] {
    [("ridepulse.ride_id", ride?.text), ("ridepulse.rules_digest", times.rules)]
      .compactMap { key, text in text.map { TraceSpan.Attribute(key, $0) } }
  }

  /// The reason's code: its text may name a person or a token.
  private func reason(of entry: LedgerEntry) -> String? { entry.reason?.code.word }
}

extension PlannedPush {
  /// The service that it leaves through, as `messaging.system` names one.
  fileprivate var messagingSystem: String {
    if case .post = address { return "webhook" }
    return network == .android ? "fcm" : "apns"
  }
}
