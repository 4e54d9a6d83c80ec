/// Answers the requests of connections, at once or after their delay.
final class RequestHandler {
  private struct DelayedResponse {
    let connection: Int
    let stream: Int32
    /// Nil for the acceptance of sink mode.
    let steps: [Decision.Step]?
  }

  private let simulator: Simulator
  private let acceptance = Acceptance()
  private var delayed = Timers<DelayedResponse>()

  init(simulator: Simulator) {
    self.simulator = simulator
  }

  var nextDeadline: Int? { delayed.nextDeadline }

  func handleRequests(of connection: Connection) {
    let streams = connection.session.streams
    for stream in streams.takeReady() {
      if let request = streams.takeRequest(stream) {
        handle(request, stream, connection)
      } else if simulator.options.isSink {
        accept(stream, connection)
      }
      if connection.isClosing || connection.isBlackHole { return }
    }
  }

  /// Sends the responses that are due, and returns their connections.
  func sendDue(in connections: [Int: Connection]) -> [Connection] {
    guard delayed.nextDeadline != nil else { return [] }
    let now = MonotonicClock.milliseconds()
    var served: [Connection] = []
    while let response = delayed.takeDue(at: now) {
      guard let connection = connections[response.connection] else { continue }
      if let steps = response.steps {
        perform(steps, response.stream, connection)
      } else if connection.session.isOpen(response.stream) {
        connection.session.accept(response.stream, acceptance)
      }
      served.append(connection)
    }
    return served
  }

  private func accept(_ stream: Int32, _ connection: Connection) {
    simulator.statistics.countAcceptance()
    let latency = simulator.options.latencyMilliseconds
    if latency == 0 { return connection.session.accept(stream, acceptance) }
    delay(nil, stream, connection, by: latency)
  }

  private func handle(_ request: PushRequest, _ stream: Int32, _ connection: Connection) {
    let now = WallTime.now()
    let decision = simulator.decide(
      request, stream: stream, from: connection.client, at: now)
    if let token = decision.provenToken { adopt(token, connection, at: now) }
    if decision.delayMilliseconds == 0 { return perform(decision.steps, stream, connection) }
    delay(decision.steps, stream, connection, by: decision.delayMilliseconds)
  }

  private func delay(
    _ steps: [Decision.Step]?, _ stream: Int32, _ connection: Connection, by milliseconds: Int
  ) {
    let response = DelayedResponse(connection: connection.number, stream: stream, steps: steps)
    delayed.add(response, at: MonotonicClock.milliseconds() + milliseconds)
  }

  /// Records a connection's provider token; as at Apple, the first valid one raises the stream
  /// limit.
  private func adopt(_ token: TokenIdentity, _ connection: Connection, at now: WallTime) {
    if connection.client.adoptedToken?.token == token { return }
    if connection.client.adoptedToken == nil { raiseStreamLimit(of: connection) }
    connection.client.adoptedToken = AdoptedToken(token: token, adoptedAt: now.seconds)
  }

  /// Announces the limit of authenticated connections.
  func raiseStreamLimit(of connection: Connection) {
    let options = simulator.options
    guard options.initialStreams < options.maximumStreams else { return }
    connection.session.setMaximumStreams(options.maximumStreams)
  }

  private func perform(_ steps: [Decision.Step], _ stream: Int32, _ connection: Connection) {
    let session = connection.session
    for step in steps {
      switch step {
      case .answer(let answer): session.answer(stream, answer)
      case .reset(let code): session.reset(stream, code.rawValue)
      case .maximumStreams(let count): session.setMaximumStreams(count)
      case .goAway(let last, let reason): session.goAway(lastStream: last, reason: reason)
      case .close: connection.isClosing = true
      case .blackHole: connection.isBlackHole = true
      }
    }
  }
}
