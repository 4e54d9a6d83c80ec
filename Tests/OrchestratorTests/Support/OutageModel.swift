import Base
import RideCore
import Synchronization

@testable import Orchestrator

/// A node in simulated time, with the values that an engine has: each step is 50 ms.
///
/// One service has an outage; every ride has an iPhone and an Android phone, and every five seconds an
/// event and another one a second later.
struct OutageModel {
  /// What an outage looks like.
  enum Kind: Sendable, CaseIterable {
    /// Pushes are sent, and nothing is answered.
    case silent
    /// There is no connection, so that pushes come back until their deadline.
    case disconnected
  }

  private struct Sent {
    var request: PushRequest
    var deadline: Duration
    /// When the transport ends or returns it.
    var dueAt: Duration
    var outcome: PushOutcome
  }

  static let start = Timestamp(epochSeconds: 1_800_000_000)
  private static let step: Duration = .milliseconds(50)
  static let interval: Duration = .seconds(5)

  let network: PushNetwork
  let kind: Kind
  let outage: Range<Duration>
  let rides: Int
  /// How long an answer takes.
  var latency: Duration = .milliseconds(100)
  let store = CheckingStore()
  private var state: Engine.State
  private var uptime: Duration = .zero
  private var transport: [Sent] = []
  private var claims: UInt64 = 0
  /// When the first push of each event was handed to each service.
  private(set) var sentAt: [PushNetwork: [Int64: Duration]] = [:]
  /// The pushes that a service accepted, by phone, in order, with repetitions.
  private(set) var accepted: [PushNetwork: [String: [PushID]]] = [:]
  private(set) var events: [Int64: Duration] = [:]
  private(set) var changes: [(lane: PushLane, change: CircuitBreaker.Change, at: Duration)] = []
  private(set) var faults: [String] = []

  init(_ kind: Kind, of network: PushNetwork, during outage: Range<Duration>, rides: Int) throws {
    self.network = network
    self.kind = kind
    self.outage = outage
    self.rides = rides
    state = Engine.State(
      configuration: try EngineTests.configuration(), settleSize: BatchSize(maximum: 1000),
      claimSize: BatchSize(maximum: 500))
    store.add((0..<rides).map(Self.view), at: Self.start)
  }

  private static func view(_ index: Int) -> RideView {
    var view = WithdrawnPushTests.view(RideID("ride-\(index)"), [.ios, .android])
    view.events = []
    // Phones of different people, because the pushes to one phone wait for each other.
    for phone in view.phones.indices {
      view.phones[phone].id += Int64(index) * 2
      view.phones[phone].ownerID = OwnerID("c\(index)")
    }
    view.ride?.customerID = OwnerID("c\(index)")
    return view
  }

  private var now: Timestamp { Self.start + uptime }

  private func isOut(_ network: PushNetwork) -> Bool {
    network == self.network && outage.contains(uptime)
  }

  /// Runs until a time; events are emitted until the given one.
  mutating func run(until end: Duration, eventsUntil last: Duration) async throws {
    while uptime < end {
      store.state.withLock { $0.now = now }
      if uptime < last { emit() }
      try await claim()
      report()
      if uptime.microseconds % 250_000 == 0 { checkSilence() }
      try await settle()
      uptime += Self.step
    }
  }

  private mutating func emit() {
    for ride in 0..<rides {
      for delay in [Duration.zero, .seconds(1)] {
        let since = (uptime - Self.interval * ride / rides - delay).microseconds
        guard since >= 0, since % Self.interval.microseconds < Self.step.microseconds else {
          continue
        }
        store.emit(RideID("ride-\(ride)"))
        events[store.state.withLock { $0.nextEvent }] = uptime
      }
    }
  }

  private mutating func claim() async throws {
    let claim = try await store.claim(limit: 500, asleep: false)
    claims += 1
    var requests: [PushRequest] = []
    for ride in claim.rides {
      let decision = decide(ride.view, by: state.configuration, now: now)
      requests += state.inFlight.add(
        ride.claim, decision, claimNumber: claims, deadline: uptime + .seconds(5),
        freshUntil: now + PushRequest.freshness)
    }
    submit(requests)
  }

  private mutating func submit(_ requests: [PushRequest]) {
    let (go, paused) = state.lanes.admit(requests, at: now)
    state.inFlight.sent(go, at: uptime)
    for request in go { send(request) }
    record(paused)
  }

  private mutating func send(_ request: PushRequest) {
    if transport.contains(where: { $0.request.ticket == request.ticket }) {
      faults.append("a ticket of two pushes")
    }
    if let event = state.inFlight.push(of: request.ticket)?.entry.event.id,
      sentAt[request.network]?[event] == nil
    {
      sentAt[request.network, default: [:]][event] = uptime
    }
    let deadline = uptime + (request.sendWithin ?? .seconds(10))
    var sent = Sent(
      request: request, deadline: deadline, dueAt: uptime + latency, outcome: .accepted)
    if isOut(request.network) {
      sent.dueAt = deadline
      sent.outcome = .unanswered(.timeout)
      if kind == .disconnected {
        sent.dueAt = min(deadline, uptime + PushRequest.freshness)
        let left = deadline - sent.dueAt
        sent.outcome = .unsent(left > .zero ? .outdated(left: left) : .noConnection("refused"))
      }
    }
    transport.append(sent)
  }

  private mutating func report() {
    let due = transport.filter { $0.dueAt <= uptime }
    transport.removeAll { $0.dueAt <= uptime }
    var again: [PushRequest] = []
    for sent in due {
      let ticket = sent.request.ticket
      if case .unsent(.outdated(let left)) = sent.outcome {
        if state.inFlight.removeWithdrawn(ticket) != nil { continue }
        let connected = Set([PushNetwork.android, .production].filter { !isOut($0) })
        if let ended = state.returned(ticket, connected: connected, at: uptime, now: now) {
          if let change = ended.change { changes.append((ended.lane, change, uptime)) }
          record([ended.report])
        } else if var request = state.inFlight.request(of: ticket) {
          request.sendWithin = left
          again.append(request)
        }
        continue
      }
      if sent.outcome == .accepted {
        let phone = "\(sent.request.network) \(state.inFlight.push(of: ticket)?.entry.phone ?? 0)"
        accepted[sent.request.network, default: [:]][phone, default: []]
          .append(sent.request.headers.id)
      }
      record([PushReport(ticket: ticket, outcome: sent.outcome)])
    }
    submit(again)
  }

  private mutating func record(_ reports: [PushReport]) {
    for report in reports {
      if let (_, lane, change) = state.recordInLane(report, at: uptime, now: now) {
        changes.append((lane, change, uptime))
      }
    }
    let next = state.inFlight.record(reports, at: uptime, answered: uptime)
    if !next.isEmpty { submit(next) }
  }

  private mutating func checkSilence() {
    guard state.lanes.beginSilenceCheck(at: uptime) else { return }
    let (found, silent) = state.lanes.checkSilence(
      state.inFlight.openPushes, at: uptime, now: now)
    changes += found.map { ($0.0, $0.1, uptime) }
    state.inFlight.withdraw(silent, at: uptime)
  }

  private mutating func settle() async throws {
    let finished = state.inFlight.takeFinished(atMost: 1000).map { ride in
      var ride = ride
      _ = ride.settle(at: now, doubtful: [])
      return ClaimedSettlement(claim: ride.claim, settlement: ride.decision.settlement)
    }
    if finished.isEmpty { return }
    let result = try await store.settle(finished)
    if !result.lost.isEmpty { faults.append("a ride was settled by another") }
    state.inFlight.settled(finished.count)
  }
}
