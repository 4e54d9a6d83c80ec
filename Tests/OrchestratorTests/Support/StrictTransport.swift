import Base
import Foundation
import RideCore
import Synchronization

/// A transport that refuses what APNs or FCM would refuse, and records what it took.
///
/// By default it accepts each push at once; `answer` changes that. Violations of the transport's
/// own contract (a ticket used twice at one time, one push in flight twice) are recorded as faults.
final class StrictTransport: PushTransport {
  private struct State {
    var taken: [PushRequest] = []
    var faults: [String] = []
    var open: [UInt64: PushID] = [:]
    var held: [(PushReport, @Sendable ([PushReport]) -> Void)] = []
    var isClosed = false
    var reachability: [PushNetwork: Reachability] = [:]
    var connects = 0
  }

  private let state = Mutex(State())
  private let topics: Set<String>
  private let answer: @Sendable (PushRequest) -> PushOutcome?

  /// Creates a transport; `answer` returns the outcome of a push that APNs would accept.
  ///
  /// If it returns nil, the push stays in flight until `release` or `close`.
  init(
    topics: Set<String> = ["com.example.customer"],
    answer: @escaping @Sendable (PushRequest) -> PushOutcome? = { _ in .accepted }
  ) {
    self.topics = topics
    self.answer = answer
  }

  /// The pushes that were taken, in order.
  var taken: [PushRequest] { state.withLock { $0.taken } }

  /// The violations of the contract.
  var faults: [String] { state.withLock { $0.faults } }

  func submit(_ requests: [PushRequest], report: @escaping @Sendable ([PushReport]) -> Void) {
    var reports: [PushReport] = []
    for request in requests {
      let outcome = take(request)
      if let outcome {
        state.withLock { _ = $0.open.removeValue(forKey: request.ticket) }
        reports.append(PushReport(ticket: request.ticket, outcome: outcome))
      } else {
        state.withLock {
          $0.held.append((PushReport(ticket: request.ticket, outcome: .accepted), report))
        }
      }
    }
    if !reports.isEmpty { report(reports) }
  }

  /// How often a connection without a push was asked for.
  var connects: Int { state.withLock { $0.connects } }

  func reachability() -> [PushNetwork: Reachability] { state.withLock { $0.reachability } }

  func connect(to environment: PushNetwork) { state.withLock { $0.connects += 1 } }

  /// Sets what `reachability` returns.
  func reach(_ reachability: Reachability, in environment: PushNetwork = .production) {
    state.withLock { $0.reachability[environment] = reachability }
  }

  /// Ends all pushes in flight, once there are as many: the engine submits them after its claim.
  func releaseNext(_ count: Int = 1) async throws {
    while state.withLock({ $0.held.count < count }) {
      try await Task.sleep(for: .milliseconds(1))  // poll: a submission is no event of the store
    }
    release()
  }

  /// Ends all pushes in flight with one outcome.
  func release(_ outcome: PushOutcome = .accepted) {
    let held = state.withLock { state in
      defer {
        state.held = []
        state.open = [:]
      }
      return state.held
    }
    for (report, deliver) in held { deliver([PushReport(ticket: report.ticket, outcome: outcome)]) }
  }

  func close(within limit: Duration) async {
    state.withLock { $0.isClosed = true }
    release(.unsent(.closed))
  }

  private func take(_ request: PushRequest) -> PushOutcome? {
    let refused = state.withLock { state -> PushOutcome? in
      if state.isClosed { return .unsent(.closed) }
      if state.open[request.ticket] != nil { state.faults.append("ticket used twice") }
      if state.open.values.contains(request.headers.id) { state.faults.append("in flight twice") }
      state.open[request.ticket] = request.headers.id
      state.taken.append(request)
      return refusal(of: request).map { .refused(Refusal(status: 400, reason: $0)) }
    }
    return refused ?? answer(request)
  }

  /// Returns Apple's reason for refusing a push to a card; nil if it is valid.
  private func refusal(ofCard aps: [String: JSONValue], _ headers: PushHeaders) -> String? {
    guard headers.topic.hasSuffix(".push-type.liveactivity") else {
      return "DeviceTokenNotForTopic"
    }
    guard case .integer = aps["timestamp"], case .string(let event) = aps["event"] else {
      return "InvalidPushType"
    }
    if event != "end", aps["content-state"] == nil { return "InvalidPushType" }
    let needed = ["attributes", "attributes-type", "alert"]
    if event == "start", !needed.allSatisfy(aps.keys.contains) { return "InvalidPushType" }
    return ["start", "update", "end"].contains(event) ? nil : "InvalidPushType"
  }

  /// Returns FCM's word for refusing a message; nil if it is valid.
  private func refusal(ofMessage request: PushRequest, to phone: FCMRegistration) -> String? {
    let message = JSONValue(json: request.payload)?["message"]
    let target = message?[phone.isFID ? "fid" : "token"]
    guard request.network == .android, request.headers.topic.isEmpty, target == .string(phone.text),
      message?.value(at: ["android", "ttl"]) != nil,
      message?.value(at: ["data", "rp_id"]) == .string(request.headers.id.description)
    else { return "INVALID_ARGUMENT" }
    return nil
  }

  /// Returns Apple's reason for refusing a push; nil if it is valid.
  private func refusal(of request: PushRequest) -> String? {
    let headers = request.headers
    if case .registration(let phone) = request.address {
      return refusal(ofMessage: request, to: phone)
    }
    if !topics.contains(headers.topic) { return "TopicDisallowed" }
    if request.payload.isEmpty { return "PayloadEmpty" }
    if request.payload.count > PushRequest.payloadLimit { return "PayloadTooLarge" }
    if headers.expiration.epochSeconds > 4_000_000_000 { return "BadExpirationDate" }
    if headers.pushType == .background, headers.priority != .powerAware { return "BadPriority" }
    guard case .object(let aps) = JSONValue(json: request.payload)?.value(at: ["aps"]) else {
      return "PayloadEmpty"
    }
    if headers.pushType == .liveactivity { return refusal(ofCard: aps, headers) }
    let isVisible = aps["alert"] != nil
    return isVisible == (headers.pushType == .alert) ? nil : "InvalidPushType"
  }
}
