import Base
import LocalStack
import RideCore

/// Controls the faults of a simulator.
struct SimulatorControl: Sendable {
  enum Service: String, CaseIterable, Sendable {
    case apns = "APNs"
    case fcm = "FCM"
  }

  let service: Service
  let url: String
  let directory: String

  init(_ simulator: LocalSimulator) {
    (service, url, directory) = (.apns, simulator.url, simulator.directory)
  }

  init(_ simulator: LocalFCMSimulator) {
    (service, url, directory) = (.fcm, simulator.url, simulator.directory)
  }

  /// Replaces all faults with these.
  func set(_ faults: [SimulatorFault]) async throws {
    try await post("[\(faults.map(\.json).joined(separator: ", "))]", to: "faults")
  }

  /// Makes APNs report these tokens as gone since a time in milliseconds.
  func unregister(_ tokens: [String], since: String) async throws {
    let entries = tokens.map { #"{"token": "\#($0)", "unregistered_since": \#(since)}"# }
    try await post(#"{"tokens": [\#(entries.joined(separator: ", "))]}"#, to: "tokens")
  }

  private func post(_ json: String, to path: String) async throws {
    let curl = try ChildProcess(
      [
        "/usr/bin/curl", "--silent", "--show-error", "--fail", "--http2", "--max-time", "20",
        "--cacert", "\(directory)/ca.pem", "--data", json, "\(url)/simulator/\(path)",
      ], output: .null)
    guard await curl.waitForEnd().status == 0 else {
      throw ChaosFailure("the simulator refused \(json)")
    }
  }
}

/// One fault in the format of `POST /simulator/faults`.
struct SimulatorFault: Sendable {
  let json: String

  private init(every: Int, times: Int, _ action: String) {
    json = #"{"match": {"every": \#(every)}, "action": {\#(action)}, "times": \#(times)}"#
  }

  private init(json: String) { self.json = json }

  /// Delays the answers to all pushes, or to those of one phone.
  static func delay(_ delay: Duration, of token: String? = nil) -> SimulatorFault {
    let match = token.map { #""token": "\#($0)""# } ?? ""
    let milliseconds = delay.microseconds / 1_000
    return SimulatorFault(
      json: #"{"match": {\#(match)}, "action": {"delay_ms": \#(milliseconds)}}"#)
  }

  /// Leaves all requests without an answer.
  static let silence = SimulatorFault(json: #"{"match": {}, "action": {"stall": true}}"#)

  /// Returns one or two faults to be active together.
  static func some(
    of service: SimulatorControl.Service, _ numbers: inout SeededGenerator
  ) -> [SimulatorFault] {
    (0..<Int.random(in: 1...2, using: &numbers)).map { _ in one(of: service, &numbers) }
  }

  private static let resets = ["REFUSED_STREAM", "INTERNAL_ERROR", "CANCEL", "ENHANCE_YOUR_CALM"]
  private static let refusals = [
    #""status": 429, "reason": "TooManyRequests""#,
    #""status": 500, "reason": "InternalServerError""#,
    #""status": 503, "reason": "ServiceUnavailable""#,
    #""status": 503, "reason": "Shutdown", "retry_after": 3"#,
  ]

  private static let refusalsOfFCM = [
    #""status": 429, "reason": "QUOTA_EXCEEDED", "retry_after": 2"#,
    #""status": 429, "reason": "DEVICE_QUOTA_EXCEEDED", "retry_after": 2"#,
    #""status": 500, "reason": "INTERNAL""#,
    #""status": 503, "reason": "UNAVAILABLE", "retry_after": 3"#,
    #""status": 401, "reason": "UNAUTHENTICATED""#,
    #""status": 502, "body": "<html>Bad Gateway</html>""#,
  ]

  private static func one(
    of service: SimulatorControl.Service, _ numbers: inout SeededGenerator
  ) -> SimulatorFault {
    let refusals = service == .apns ? refusals : refusalsOfFCM
    func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &numbers) }
    switch number(0...9) {
    case 0:
      let last = number(0...1) == 0 ? "this" : "previous"
      return SimulatorFault(
        every: number(5...60), times: number(1...3),
        #""goaway": {"last_stream": "\#(last)", "reason": "Shutdown"}"#)
    case 1, 2:
      return SimulatorFault(
        every: number(1...10), times: number(1...40),
        #""reset": "\#(resets[number(0...resets.count - 1)])""#)
    case 3:
      return SimulatorFault(every: number(2...20), times: number(1...10), #""stall": true"#)
    case 4:
      return SimulatorFault(
        every: number(1...4), times: number(10...400), #""delay_ms": \#(number(10...1500))"#)
    case 5:
      // May exceed the deadline of an answer: APNs has accepted the push, but the node gets no
      // answer.
      return SimulatorFault(
        every: number(2...20), times: number(1...10), #""delay_ms": \#(number(3000...13000))"#)
    case 6, 7, 8:
      return SimulatorFault(
        every: number(1...3), times: number(20...300),
        #""answer": {\#(refusals[number(0...refusals.count - 1)])}"#)
    default:
      return SimulatorFault(
        every: number(5...60), times: number(1...3),
        number(0...3) == 0 ? #""no_ping": true"# : #""close": true"#)
    }
  }
}
