import SimulatorKit

extension FaultReader {
  /// Reads faults of messages and of the token endpoint.
  static let messages = FaultReader(
    keys: ["project"], calls: ["send", "token"], foldsTokens: false)
}

/// Answers as FCM and Google's token endpoint, and records; independent of the network.
final class Simulator: Service {
  let options: Options
  var statistics = Statistics()
  private var faults: FaultControl
  private var accounts: [ServiceAccount] = []
  private var tokens: AccessTokens
  private var registrations = Registrations()
  private var phones: [String: Phone] = [:]
  private var cards = CardHistory()
  private var projectRate: TokenRateLimiter?
  private var deviceRate: TokenRateLimiter?
  private var generator: SeededGenerator
  private let requests: Recorder
  private let tokenCalls: Recorder
  private let deliveries: Recorder

  init(options: Options, faults: FaultControl) throws {
    self.options = options
    self.faults = faults
    tokens = AccessTokens(lifeSeconds: options.tokenLifeSeconds)
    projectRate = options.quota.map(TokenRateLimiter.init)
    deviceRate = options.deviceRate.map(TokenRateLimiter.init)
    generator = SeededGenerator(seed: options.seed)
    let directory = options.stateDirectory
    requests = try Recorder(path: directory + "/requests.jsonl")
    tokenCalls = try Recorder(path: directory + "/tokens.jsonl")
    deliveries = try Recorder(path: directory + "/deliveries.jsonl")
    let path = directory + "/registrations.json"
    if File.exists(path) {
      registrations = try File.parse(File.read(path), of: path, Registrations.init(text:))
    }
  }

  /// Writes the service-account file of each project.
  func prepareAccounts(tokenURI: String) throws {
    accounts = try options.projects.enumerated().map { index, project in
      let name = index == 0 ? "service-account" : "service-account-\(project)"
      let path = "\(options.stateDirectory)/\(name).json"
      return try ServiceAccount(project: project, path: path, tokenURI: tokenURI)
    }
  }

  func peer(connection: Int) -> any Peer { SenderPeer(connection: connection, simulator: self) }

  func flushRecords() {
    for recorder in [requests, tokenCalls, deliveries] { recorder.flush() }
  }

  func rereadFaults(_ path: String) {
    do {
      try faults.read(file: path)
      if !options.isQuiet { Log.write("\(path): \(faults.count) faults in force") }
    } catch {
      Log.write("\(error); the old faults stay")
    }
  }

  func react(
    to request: Request, stream: Int32, connection: Int, at time: WallTime
  ) -> Reaction {
    let path = request.path.prefix { $0 != "?" }
    if path.hasPrefix("/simulator/") || path.hasPrefix("/phones/") {
      return Reaction(steps: [.answer(controlAnswer(request, at: time))])
    }
    if path == "/token" { return tokenCall(request, stream, connection, at: time) }
    let project = SendPath.project(of: path)
    guard let project, request.method == "POST" else {
      let page = Array("<!DOCTYPE html><title>Error 404 (Not Found)!!1</title>".utf8)
      let type = Header(name: "content-type", value: "text/html; charset=UTF-8")
      return Reaction(steps: [.answer(Answer(status: 404, headers: [type], body: page))])
    }
    return send(request, to: project, stream, connection, at: time)
  }

  private func tokenCall(
    _ request: Request, _ stream: Int32, _ connection: Int, at time: WallTime
  ) -> Reaction {
    let fault = strike(["call": "token"], connection)
    let answer =
      fault.flatMap { Self.answer(of: $0.action) }
      ?? TokenEndpoint.answer(request, accounts, &tokens, at: time.seconds)
    let record: [String: JSON] = [
      "received_at": .number(time.fractionalSeconds), "status": .integer(answer.status),
      "fault": fault.map { .string($0.action.name) } ?? .null,
    ]
    tokenCalls.append(.object(record))
    return reaction(answer, fault, stream)
  }

  private func send(
    _ request: Request, to project: String, _ stream: Int32, _ connection: Int,
    at time: WallTime
  ) -> Reaction {
    var record = SendRecord(
      receivedAt: time, connection: connection, stream: stream, request: request)
    record.project = project
    var answer: Answer
    var fault: Fault?
    do throws(Refusal) {
      let message = try read(request, for: project, &record, at: time)
      let registration = record.registration ?? ""
      fault = strike(
        ["call": "send", "token": registration, "project": project], connection)
      // A fault that loses the answer strikes after the message was accepted; one that refuses,
      // instead of it.
      if fault?.action.prevents(stream) != true {
        record.name = accept(message, to: registration, of: project, at: time)
      }
      answer = Answer(
        status: 200, json: .object(["name": .string(record.name ?? Self.fakeName(project))]))
    } catch {
      record.word = error.word
      record.detail = error.message
      answer = error.answer
    }
    if let told = fault.flatMap({ Self.answer(of: $0.action) }) { answer = told }
    let reaction = reaction(answer, fault, stream)
    record.status = reaction.isAnswered ? answer.status : 0
    record.fault = fault?.action.name
    statistics.count(status: record.status, reason: record.word)
    requests.append(record.write)
    return reaction
  }

  private func reaction(_ answer: Answer, _ fault: Fault?, _ stream: Int32) -> Reaction {
    Reaction(
      delayMilliseconds: options.latencyMilliseconds + (fault?.delayMilliseconds ?? 0),
      steps: (fault?.action ?? .proceed).steps(answer, stream: stream) { _ in [] })
  }

  /// Checks a request in FCM's order.
  private func read(
    _ request: Request, for project: String, _ record: inout SendRecord, at time: WallTime
  ) throws(Refusal) -> Message {
    let owner = try Authorization.project(of: request, tokens, at: time.seconds)
    let body = try Self.parse(request)
    record.message = body.object?["message"]
    let message = try Message(body)
    guard options.projects.contains(project) else { throw .unknownProject }
    guard owner == project else { throw .forbidden(project) }
    if case .registration(let text, _) = message.target { record.registration = text }
    try MessageRules.check(message, options.strictness)
    try checkQuotas(project, record.registration ?? "", at: time)
    try checkRegistration(message, project)
    if options.strictness.contains(.cards), !message.isOnlyValidated,
      let problem = cards.problem(of: message.data, to: record.registration ?? "")
    {
      throw .invalid("Card: \(problem)", field: "message.data")
    }
    return message
  }

  private static func parse(_ request: Request) throws(Refusal) -> JSON {
    guard request.bodyBytes == request.body.count else {
      throw .malformed("Request payload size exceeds the limit.")
    }
    do {
      return try JSONParser.parse(request.body)
    } catch {
      throw .malformed("Invalid JSON payload received. \(error.description)")
    }
  }

  private func checkQuotas(
    _ project: String, _ registration: String, at time: WallTime
  ) throws(Refusal) {
    if projectRate?.isExceeded(by: project, at: time.total) == true {
      throw .quota(
        "project:\(project)", "Quota exceeded for messages per minute and project",
        retryAfter: options.quota?.seconds ?? 60)
    }
    if deviceRate?.isExceeded(by: registration, at: time.total) == true {
      throw .quota(
        "device:\(registration.suffix(6))", "Message rate of the device exceeded",
        retryAfter: options.deviceRate?.seconds ?? 60)
    }
    projectRate?.count(project, at: time.total)
    deviceRate?.count(registration, at: time.total)
  }

  private func checkRegistration(_ message: Message, _ project: String) throws(Refusal) {
    guard case .registration(let text, let isFID) = message.target else { return }
    guard Registrations.isWellFormed(text, isFID: isFID) else {
      throw .invalid(
        "The registration token is not a valid FCM registration token",
        field: isFID ? "message.fid" : "message.token")
    }
    let known = registrations[text]
    if let owner = known?.project, owner != project { throw .otherProject }
    if let package = known?.package, let asked = message.packageName, asked != package {
      throw .invalid(
        "The package of the registration is another one",
        field: "message.android.restricted_package_name")
    }
    let isUnknown = known == nil && options.strictness.contains(.registrations)
    if isUnknown || phones[text]?.state == .uninstalled { throw .unregistered }
  }

  /// Accepts a message, and returns its name; nil for one that is only validated.
  private func accept(
    _ message: Message, to registration: String, of project: String, at time: WallTime
  ) -> String? {
    if message.isOnlyValidated { return nil }
    let name = "projects/\(project)/messages/0:\(time.total)%\(RandomText.hex(digits: 16))"
    let stored = StoredMessage(
      name: name, acceptedAt: time, ttl: message.ttl ?? 28 * 86_400, isHigh: message.isHigh,
      collapseKey: message.collapseKey, showsNotification: message.showsSomething,
      content: message.delivered)
    for delivery in phones[registration, default: Phone()].accept(stored, at: time) {
      deliveries.append(delivery.json(registration: registration))
    }
    return name
  }

  private static func fakeName(_ project: String) -> String {
    "projects/\(project)/messages/fake_message_id"
  }

  private func strike(_ values: [String: String], _ connection: Int) -> Fault? {
    if faults.isEmpty { return nil }
    return faults.strike(FaultSubject(connection: connection, values: values))
  }

  /// Returns the answer that a fault gives, as FCM or as the page of a front end.
  private static func answer(of action: FaultAction) -> Answer? {
    guard case .answer(let told) = action else { return nil }
    if told.body == nil, let word = told.reason {
      return Refusal.fault(told.status, word, retryAfter: told.retryAfterSeconds).answer
    }
    let body = Array((told.body ?? "").utf8)
    let isJSON = body.first == UInt8(ascii: "{")
    var headers = [
      Header(name: "content-type", value: isJSON ? "application/json" : "text/html")
    ]
    if let seconds = told.retryAfterSeconds {
      headers.append(Header(name: "retry-after", value: String(seconds)))
    }
    return Answer(status: told.status, headers: headers, body: body)
  }

  private func controlAnswer(_ request: Request, at time: WallTime) -> Answer {
    let call = "\(request.method) \(request.path)"
    do {
      if let result = try faults.execute(call, request.body) {
        return Answer(status: 200, json: result)
      }
      switch call {
      case "GET /simulator/stats": return Answer(status: 200, json: statistics.json)
      case "POST /simulator/expire-tokens":
        tokens.expireAll(at: time.seconds)
        return Answer(status: 200, json: .object([:]))
      default:
        if let answer = phoneAnswer(request, at: time) { return answer }
        return Answer(status: 404, json: .object(["error": .string("no such call: \(call)")]))
      }
    } catch {
      return Answer(status: 400, json: .object(["error": .string("\(error)")]))
    }
  }

  /// Executes `POST /phones/REGISTRATION/STATE`.
  private func phoneAnswer(_ request: Request, at time: WallTime) -> Answer? {
    let parts = request.path.split(separator: "/", omittingEmptySubsequences: false)
    guard request.method == "POST", parts.count == 4, parts[1] == "phones",
      let state = Phone.State(rawValue: String(parts[3]))
    else { return nil }
    let registration = FormBody.decoded(parts[2])
    let arrived = phones[registration, default: Phone()].become(
      state, at: time, using: &generator)
    let lines = arrived.map { $0.json(registration: registration) }
    lines.forEach(deliveries.append)
    return Answer(status: 200, json: .object([state.rawValue: .array(lines)]))
  }
}
