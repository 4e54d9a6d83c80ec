/// Answers complete requests, at once or after their delay.
extension Server {
  func handleRequests(of connection: Connection) {
    let streams = connection.session.streams
    for stream in streams.takeReady() {
      if let request = streams.takeRequest(stream) {
        handle(request, stream, connection)
      } else if simulator.options.isSink {
        accept(stream, connection)
      }
      if connections[connection.number] == nil || connection.isBlackHole { return }
    }
  }

  private func accept(_ stream: Int32, _ connection: Connection) {
    simulator.statistics.countAcceptance()
    let latency = simulator.options.latencyMilliseconds
    if latency == 0 { return connection.session.accept(stream, acceptance) }
    let event = TimedEvent.acceptance(stream: stream, connection: connection.number)
    timers.add(event, at: MonotonicClock.milliseconds() + latency)
  }

  private func handle(_ request: PushRequest, _ stream: Int32, _ connection: Connection) {
    let now = WallTime.now()
    let decision = simulator.decide(
      request, stream: stream, connection: connection.number,
      adoptedToken: connection.adoptedToken, at: now)
    if let issuedAt = decision.provenIssuedAt { adopt(issuedAt, connection, at: now) }
    if decision.delayMilliseconds == 0 { return perform(decision.steps, stream, connection) }
    let event = TimedEvent.steps(decision.steps, stream: stream, connection: connection.number)
    timers.add(event, at: MonotonicClock.milliseconds() + decision.delayMilliseconds)
  }

  /// Records a connection's provider token; as at Apple, the first valid one raises the stream
  /// limit.
  private func adopt(_ issuedAt: Int, _ connection: Connection, at now: WallTime) {
    if connection.adoptedToken?.issuedAt == issuedAt { return }
    let options = simulator.options
    if connection.adoptedToken == nil, options.initialStreams < options.maximumStreams {
      connection.session.setMaximumStreams(options.maximumStreams)
    }
    connection.adoptedToken = AdoptedToken(issuedAt: issuedAt, adoptedAt: now.seconds)
  }

  private func perform(_ steps: [Decision.Step], _ stream: Int32, _ connection: Connection) {
    let session = connection.session
    for step in steps {
      switch step {
      case .answer(let answer): session.answer(stream, answer)
      case .reset(let code): session.reset(stream, code.rawValue)
      case .maximumStreams(let count): session.setMaximumStreams(count)
      case .goAway(let last, let reason): session.goAway(lastStream: last, reason: reason)
      case .close:
        // A client that sees the connection end must find the record of the push.
        simulator.flushRecords()
        drop(connection)
      case .blackHole:
        connection.isBlackHole = true
        updateInterest(of: connection)
      }
    }
  }

  func fireTimers() {
    guard timers.nextDeadline != nil else { return }
    let now = MonotonicClock.milliseconds()
    while let event = timers.takeDue(at: now) {
      switch event {
      case .steps(let steps, let stream, let number):
        guard let connection = connections[number] else { continue }
        perform(steps, stream, connection)
        markDirty(connection)
      case .acceptance(let stream, let number):
        guard let connection = connections[number], connection.session.isOpen(stream) else {
          continue
        }
        connection.session.accept(stream, acceptance)
        markDirty(connection)
      case .drop(let number, let onlyBeforeHandshake):
        guard let connection = connections[number] else { continue }
        if !onlyBeforeHandshake || !connection.isEstablished { drop(connection) }
      }
    }
  }
}
