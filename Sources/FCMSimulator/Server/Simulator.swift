import Inbox
import SimulatorKit

extension FaultReader {
  /// Reads faults of messages and of the token endpoint.
  static let messages = FaultReader(
    keys: ["project"], calls: ["send", "token"], foldsTokens: false,
    answerKeys: ["retry_after_date", "accepted"])
}

/// Answers as FCM and Google's token endpoint, and records; independent of the network.
final class Simulator: Service {
  /// Why a message was refused, as its record has it.
  private static let detailHeader = "fcm-simulator-detail"

  let options: Options
  var statistics = Statistics()
  var faults: FaultControl
  private var accounts: [ServiceAccount] = []
  var tokens: AccessTokens
  private(set) var registrations = Registrations()
  private var phones: [String: Phone] = [:]
  var cards = CardHistory()
  private var repeats = RepeatHistory()
  var projectRate: TokenRateLimiter?
  var deviceRate: TokenRateLimiter?
  private var generator: SeededGenerator
  private let requests: Recorder
  private let tokenCalls: Recorder
  private let deliveries: Recorder
  /// Nil unless it is asked for.
  let inbox: MessageInbox?
  /// What was decided about messages since they were last shown in the inbox.
  var decided: [Delivery] = []

  init(options: Options, faults: FaultControl, inbox: MessageInbox? = nil) throws {
    self.options = options
    self.faults = faults
    self.inbox = inbox
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
      phones = registrations.states.mapValues(Phone.init(state:))
      for (registration, state) in registrations.states { show(state, of: registration) }
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
    if isControl(request) {
      return Reaction(steps: [.answer(controlAnswer(request, at: time))])
    }
    if path == "/token" { return tokenCall(request, stream, connection, at: time) }
    let project = SendPath.project(of: path)
    guard let project, request.method == "POST" else {
      let page = Array("<!DOCTYPE html><title>Error 404 (Not Found)!!1</title>".utf8)
      let headers = [
        Header(name: "content-type", value: "text/html; charset=UTF-8"),
        Header(
          name: Self.detailHeader,
          text: "expected POST /v1/projects/<project>/messages:send or /token"),
      ]
      return Reaction(steps: [.answer(Answer(status: 404, headers: headers, body: page))])
    }
    return send(request, to: project, stream, connection, at: time)
  }

  private func tokenCall(
    _ request: Request, _ stream: Int32, _ connection: Int, at time: WallTime
  ) -> Reaction {
    let fault = strike(["call": "token"], connection)
    let answer =
      fault?.action.answer.map { ToldAnswer.token($0, at: time) }
      ?? TokenEndpoint.answer(request, accounts, &tokens, at: time.seconds)
    let record: [String: JSON] = [
      "received_at": .number(time.fractionalSeconds), "status": .integer(answer.status),
      "fault": fault.map { .string($0.action.word.rawValue) } ?? .null,
    ]
    tokenCalls.append(.object(record))
    return reaction(answer, fault, stream, at: time)
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
      record.repeated = message.isOnlyValidated ? nil : repeats.note(message, to: registration)
      fault = strike(
        ["call": "send", "token": registration, "project": project], connection)
      // A fault that loses the answer strikes after the message was accepted; one that refuses,
      // instead of it.
      if fault?.action.prevents(stream) != true {
        record.name = accept(message, to: registration, of: project, at: time)
        if !message.isOnlyValidated { cards.accepted(message.data, to: registration) }
      }
      answer = Answer(
        status: 200, json: .object(["name": .string(record.name ?? Self.fakeName(project))]))
    } catch {
      record.word = error.word
      record.detail = error.message
      let detail = Header(name: Self.detailHeader, text: error.message)
      answer = Answer(
        status: error.answer.status, headers: error.answer.headers + [detail],
        body: error.answer.body)
      // What is before FCM, or FCM itself, may refuse it for another reason.
      fault = strike(
        ["call": "send", "token": record.registration ?? "", "project": project], connection)
    }
    if let told = fault?.action.answer {
      record.word = told.reason
      answer = ToldAnswer.message(told, record, at: time)
    }
    let reaction = reaction(answer, fault, stream, at: time)
    record.status = reaction.isAnswered ? answer.status : 0
    record.fault = fault?.action.word.rawValue
    statistics.count(status: record.status, reason: record.word)
    requests.append(record.write)
    if let inbox { show(record, in: inbox) }
    return reaction
  }

  private func reaction(
    _ answer: Answer, _ fault: Fault?, _ stream: Int32, at time: WallTime
  ) -> Reaction {
    // Google's answers have a date, from which a client learns that its clock is wrong.
    let date = Header(name: "date", value: time.httpDate)
    let dated = Answer(
      status: answer.status, headers: answer.headers + [date], body: answer.body)
    return Reaction(
      delayMilliseconds: options.latencyMilliseconds + (fault?.delayMilliseconds ?? 0),
      steps: (fault?.action ?? .proceed).steps(dated, stream: stream) { _ in [] })
  }

  /// Accepts a message, and returns its name; nil for one that is only validated.
  private func accept(
    _ message: Message, to registration: String, of project: String, at time: WallTime
  ) -> String? {
    if message.isOnlyValidated { return nil }
    let name = "projects/\(project)/messages/0:\(time.total)%\(RandomText.hex(digits: 16))"
    var stored = StoredMessage(
      name: name, acceptedAt: time, ttl: message.ttl ?? MessageRules.longestTTL,
      isHigh: message.isHigh,
      collapseKey: message.collapseKey, showsNotification: message.showsSomething,
      content: message.delivered)
    if let inbox { stored.number = inbox.nextSequence }
    let demotes = options.strictness.contains(.high)
    deliver(
      phones[registration, default: Phone()].accept(stored, demotes: demotes, at: time),
      to: registration)
    return name
  }

  func isUninstalled(_ registration: String) -> Bool {
    phones[registration]?.state == .uninstalled
  }

  /// Changes a phone's state, and returns what it got by that.
  func change(_ registration: String, to state: Phone.State, at time: WallTime) -> [JSON] {
    let lines = deliver(
      phones[registration, default: Phone()].become(state, at: time, using: &generator),
      to: registration)
    show(state, of: registration)
    return lines
  }

  /// Records what happened to messages, and returns the records.
  @discardableResult
  private func deliver(_ outcomes: [Delivery], to registration: String) -> [JSON] {
    var lines: [JSON] = []
    for delivery in outcomes {
      lines.append(delivery.json(registration: registration))
      guard delivery.outcome == .delivered, let share = options.duplicates,
        share.isHit(using: &generator)
      else { continue }
      lines.append(delivery.json(registration: registration, isDuplicate: true))
    }
    for line in lines { deliveries.append(line) }
    if inbox != nil { decided += outcomes }
    return lines
  }

  private static func fakeName(_ project: String) -> String {
    "projects/\(project)/messages/fake_message_id"
  }

  private func strike(_ values: [String: String], _ connection: Int) -> Fault? {
    if faults.isEmpty { return nil }
    return faults.strike(FaultSubject(connection: connection, values: values))
  }
}
