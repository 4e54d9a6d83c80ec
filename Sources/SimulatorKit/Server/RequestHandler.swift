/// Answers the requests of connections, at once or after their delay.
final class RequestHandler {
  private struct DelayedResponse {
    let connection: Int
    let stream: Int32
    /// Nil for the acceptance of sink mode.
    let steps: [Reaction.Step]?
  }

  private let service: any Service
  private let settings: ServerSettings
  /// The answer of sink mode.
  private let acceptance: Acceptance?
  private var delayed = Timers<DelayedResponse>()

  init(service: any Service, settings: ServerSettings) {
    self.service = service
    self.settings = settings
    acceptance = settings.sinkHeader.map(Acceptance.init(idHeader:))
  }

  var nextDeadline: Int? { delayed.nextDeadline }

  func handleRequests(of connection: Connection) {
    let streams = connection.session.streams
    for stream in streams.takeReady() {
      if let request = streams.takeRequest(stream) {
        handle(request, stream, connection)
      } else if let acceptance {
        accept(stream, connection, acceptance)
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
      } else if let acceptance, connection.session.isOpen(response.stream) {
        connection.session.accept(response.stream, acceptance)
      }
      served.append(connection)
    }
    return served
  }

  private func accept(_ stream: Int32, _ connection: Connection, _ acceptance: Acceptance) {
    service.statistics.countAcceptance()
    let latency = settings.latencyMilliseconds
    if latency == 0 { return connection.session.accept(stream, acceptance) }
    delay(nil, stream, connection, by: latency)
  }

  private func handle(_ request: Request, _ stream: Int32, _ connection: Connection) {
    let reaction = connection.peer.react(to: request, stream: stream, at: .now())
    if let limit = reaction.streamLimit { connection.session.setMaximumStreams(limit) }
    if reaction.delayMilliseconds == 0 { return perform(reaction.steps, stream, connection) }
    delay(reaction.steps, stream, connection, by: reaction.delayMilliseconds)
  }

  private func delay(
    _ steps: [Reaction.Step]?, _ stream: Int32, _ connection: Connection, by milliseconds: Int
  ) {
    let response = DelayedResponse(connection: connection.number, stream: stream, steps: steps)
    delayed.add(response, at: MonotonicClock.milliseconds() + milliseconds)
  }

  private func perform(_ steps: [Reaction.Step], _ stream: Int32, _ connection: Connection) {
    let session = connection.session
    for step in steps {
      switch step {
      case .answer(let answer): session.answer(stream, answer, isWhole: true)
      case .halfAnswer(let answer): session.answer(stream, answer, isWhole: false)
      case .reset(let code): session.reset(stream, code.rawValue)
      case .maximumStreams(let count): session.setMaximumStreams(count)
      case .goAway(let last, let data): session.goAway(lastStream: last, data: data)
      case .close: connection.isClosing = true
      case .blackHole: connection.isBlackHole = true
      }
    }
  }
}
