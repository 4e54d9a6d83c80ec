import Foundation
import PostgresStore
import PushClient
import RideCore
import RuleFiles

/// A path of the program that is measured, with fixed input.
enum Work: String, CaseIterable {
  /// Rows of a claim, views, decisions, and the parameters that settle them.
  case claimToSettle = "claim-to-settle"
  case alert = "decide-alert"
  case twoRules = "decide-two-rules"
  case heartbeat = "decide-heartbeat"
  case card = "decide-card"
  case androidAlert = "decide-android-alert"
  case androidCard = "decide-android-card"
  case idle = "decide-nothing"
  /// Requests, HTTP/2 frames, answers and reports, without TLS and socket.
  case frames = "request-to-frames"
  /// The same for messages to FCM.
  case messages = "fcm-request-to-frames"
  case load = "load-rules"

  /// What a figure is divided by.
  var unit: String {
    switch self {
    case .claimToSettle, .alert, .twoRules, .card, .androidAlert, .androidCard: "an event"
    case .heartbeat: "a slot"
    case .idle: "a ride"
    case .frames, .messages: "a push"
    case .load: "a load"
    }
  }

  /// How many units one run has.
  var units: Int {
    switch self {
    case .claimToSettle, .frames, .messages: 100
    default: 1
    }
  }

  /// The numbers of runs whose difference is measured: what happens once does not count.
  var runs: (few: Int, many: Int) {
    switch self {
    case .claimToSettle: (2, 7)
    case .frames, .messages: (5, 25)
    case .load: (2, 7)
    default: (50, 300)
    }
  }

  /// The apps with a service account: none for paths that have iPhones alone, whose cost it changes.
  private var androidApps: Set<App> {
    switch self {
    case .androidAlert, .androidCard: [.customer]
    default: []
    }
  }

  /// Repeats the work.
  ///
  /// - Throws: `CostFailure` if a run does anything else than what it is to measure.
  func run(_ runs: Int, rules: String) throws {
    let (once, expected) = try prepare(rules: rules)
    for _ in 0..<runs {
      let pushes = try once()
      if pushes != expected {
        throw CostFailure(text: "\(rawValue) made \(pushes) pushes, expected \(expected)")
      }
    }
  }

  /// Returns the work as a function that returns how many pushes it made, and their number.
  private func prepare(rules: String) throws -> (once: () throws -> Int, expected: Int) {
    let files = try Self.files(rules)
    if self == .load { return ({ try Self.load(files).rules.count }, 25) }
    let scene = Scene(rules: try Self.load(files), androidApps: androidApps)
    return switch self {
    case .claimToSettle: (try Self.claimToSettle(scene, units), units)
    case .alert: (scene.decision(scene.arrived(1)), 1)
    case .twoRules: (scene.decision(scene.waitingFee()), 4)
    case .heartbeat: (scene.decision(scene.heartbeat()), 1)
    case .card: (scene.decision(scene.cardUpdate()), 1)
    case .androidAlert: (scene.decision(scene.arrivedOnAndroid()), 1)
    case .androidCard: (scene.decision(scene.androidCardUpdate()), 1)
    case .idle: (scene.decision(scene.nothingDue()), 0)
    case .frames: (try Self.frames(scene, units), units)
    case .messages: (try Self.messages(units), units)
    case .load: ({ 0 }, 0)
    }
  }

  /// Loads the rule files of a directory.
  static func rules(in directory: String) throws -> RuleSet { try load(files(directory)) }

  private static func files(_ directory: String) throws -> [(name: String, bytes: [UInt8])] {
    let names = try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
    return try names.map { name in
      let path = "\(directory)/\(name)"
      return (path, Array(try Data(contentsOf: URL(fileURLWithPath: path))))
    }
  }

  private static func load(_ files: [(name: String, bytes: [UInt8])]) throws -> RuleSet {
    switch RuleDirectory.parse(files: files) {
    case .success(let loaded): return loaded.ruleSet
    case .failure(let problems): throw CostFailure(text: "\(problems)")
    }
  }

  /// A claim of rides whose driver has arrived, one phone each.
  private static func claimToSettle(_ scene: Scene, _ count: Int) throws -> () throws -> Int {
    let moments = (1...count).map { scene.arrived($0) }
    let now = moments.map(\.now).max() ?? Scene.start
    let replay = try ClaimReplay(
      moments.map(\.view), at: now, apps: scene.configuration.rules.apps,
      rules: scene.configuration.rules)
    return {
      let claim = replay.claim()
      var pushes = 0
      let settlements = claim.rides.map { claimed, view in
        let decision = decide(view, by: scene.configuration, now: claim.now)
        pushes += requests(of: decision, from: 0).count
        return ClaimedSettlement(
          claim: claimed, settlement: Scene.accepted(decision, at: claim.now))
      }
      let parameters = ClaimReplay.parameters(settlements)
      return parameters.isEmpty ? 0 : pushes
    }
  }

  /// Pushes of one batch, each with its own path, ID and collapse ID.
  private static func frames(_ scene: Scene, _ count: Int) throws -> () throws -> Int {
    let connection = try FrameReplay()
    let requests = (1...count).flatMap { index in
      let moment = scene.arrived(index)
      let decision = decide(moment.view, by: scene.configuration, now: moment.now)
      return Self.requests(of: decision, from: index)
    }
    return { try connection.send(requests).accepted }
  }

  /// Messages of one batch, each with its own body.
  private static func messages(_ count: Int) throws -> () throws -> Int {
    guard let registration = FCMRegistration("cX3abcdefghijklmnopqrs") else {
      throw CostFailure(text: "a registration can't be read")
    }
    let connection = try FrameReplay(to: .android)
    let requests = (1...count).map { index in
      let id = PushID(of: "message", String(index))
      return PushRequest(
        ticket: UInt64(index), network: .android, address: .registration(registration),
        headers: PushHeaders(
          id: id, topic: "", pushType: .alert, priority: .immediate, expiration: .neverStore),
        payload: Array(
          #"{"message":{"android":{"priority":"HIGH","ttl":"287s"},"data":{"rp_id":"\#(id)"}}}"#
            .utf8))
    }
    return { try connection.send(requests).accepted }
  }

  private static func requests(of decision: Decision, from ticket: Int) -> [PushRequest] {
    decision.pushes.enumerated().map { index, push in
      var request = push.request
      request.ticket = UInt64(ticket + index)
      return request
    }
  }
}
