import Foundation
import LegacyGateway
import RideCore
import Synchronization
import TestSupport
import Testing

/// A gateway in this process, with a store that the test controls.
struct GatewayFixture {
  let server: GatewayServer
  let store: FakePushStore
  let events: Events

  /// Runs a gateway for the duration of the body, then stops it.
  static func run(_ body: (GatewayFixture) async throws -> Void) async throws {
    try await run({ _ in }, body)
  }

  /// Runs a gateway with settings changed by the test.
  static func run(
    _ change: (inout GatewaySettings) -> Void, _ body: (GatewayFixture) async throws -> Void
  ) async throws {
    var settings = GatewaySettings(
      app: .customer, bundleID: "com.example.customer", identity: .selfSigned(name: "test"))
    settings.port = 0
    settings.feedbackPort = 0
    change(&settings)
    let (store, events) = (FakePushStore(), Events())
    let server = try GatewayServer(settings, store: store) { events.add($0) }
    async let running: Void = server.run()
    let result: Result<Void, any Error>
    do {
      let fixture = GatewayFixture(server: server, store: store, events: events)
      result = .success(try await body(fixture))
    } catch {
      result = .failure(error)
    }
    store.change { $0.isHeld = false }
    server.stop()
    await running
    try result.get()
  }

  /// Waits until a condition is true.
  func until(
    sourceLocation: Testing.SourceLocation = #_sourceLocation, _ holds: @Sendable () -> Bool
  ) async throws {
    do {
      try await wait(until: "the gateway has done it", every: .milliseconds(10), holds)
    } catch {
      Issue.record(error, sourceLocation: sourceLocation)
    }
  }

  private static let script = Project.path("Tests/LegacyGatewayTests/Client/client.py")

  /// Returns the lines that a client prints while it performs these steps.
  func client(_ steps: String..., feedback: Bool = false) async throws -> [String] {
    let port = feedback ? server.feedbackPort : server.port
    let result = try await Tool.runAsync(
      "/usr/bin/python3", [Self.script, "\(port)"] + steps)
    return result.output.split(separator: "\n").map(String.init)
  }
}

/// The events that the gateway has emitted.
final class Events: Sendable {
  private let lines = Mutex<[String]>([])

  func add(_ event: GatewayEvent) {
    lines.withLock { $0.append("\(event)") }
  }

  var all: [String] { lines.withLock { $0 } }
}

/// A store that commits nothing and keeps the pushes it receives.
final class FakePushStore: LegacyPushStore {
  struct State {
    var taken: [LegacyPush] = []
    /// Disabled tokens.
    var disabled: Set<String> = []
    /// Tokens that APNs reports as bad after their pushes were committed.
    var bad: Set<String> = []
    /// The store is unavailable after it has committed this many pushes.
    var isAwayAfter = Int.max
    /// The number of pushes it was asked to commit.
    var asked = 0
    var failures = 0
    /// The IDs of the pushes it was asked to commit, without repeats.
    var identities: Set<PushID> = []
    /// True if it does not answer.
    var isHeld = false
    var phones: [DisabledPhone] = []
    var reported = 0
    /// True if recording reported phones fails.
    var forgetsNothing = false
  }

  private let state = Mutex(State())

  struct Away: Error {}

  func change(_ body: (inout State) -> Void) { state.withLock { body(&$0) } }

  var taken: [UInt32?] { state.withLock { $0.taken.map(\.identifier) } }
  var asked: Int { state.withLock { $0.asked } }
  var failures: Int { state.withLock { $0.failures } }
  var identities: Int { state.withLock { $0.identities.count } }
  /// The number of phones that were recorded as reported.
  var reported: Int { state.withLock { $0.reported } }

  func take(_ frames: [LegacyFrame]) async throws -> [LegacyCommitResult] {
    change { $0.asked += frames.count }
    while state.withLock({ $0.isHeld }) {
      try await Task.sleep(for: .milliseconds(5))  // poll: a flag that the test sets
    }
    return try state.withLock { state in
      state.identities.formUnion(frames.map(\.id))
      if state.taken.count >= state.isAwayAfter {
        state.failures += 1
        throw Away()
      }
      var refused: Set<Int> = []
      return frames.map { frame in
        if refused.contains(frame.sender) { return .leftOut }
        if state.disabled.contains(frame.push.token.hex) {
          refused.insert(frame.sender)
          return .refused
        }
        state.taken.append(frame.push)
        let id = frame.push.id ?? PushID(of: "\(state.taken.count)")
        return .taken(
          LegacyReceipt(ride: "legacy:\(frame.push.token.hex)", id: id, isRepeat: false))
      }
    }
  }

  func verdicts(on pushes: [LegacyReceipt]) async throws -> [PushID: LegacyVerdict] {
    state.withLock { state in
      var verdicts: [PushID: LegacyVerdict] = [:]
      for push in pushes {
        verdicts[push.id] = state.bad.contains { push.ride.text.hasSuffix($0) } ? .badToken : nil
      }
      return verdicts
    }
  }

  func disabled(of app: App, limit: Int) async throws -> [DisabledPhone] {
    state.withLock { Array($0.phones[$0.reported...].prefix(limit)) }
  }

  func forget(_ phones: [DisabledPhone]) async throws {
    try state.withLock { state in
      if state.forgetsNothing { throw Away() }
      state.reported += phones.count
    }
  }
}
