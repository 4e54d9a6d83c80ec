internal import Glibc
internal import RideCore
internal import SystemSupport

// Accepts, reads, writes and closes connections.
extension GatewayLoop {
  func accept(_ doors: Listeners) {
    if let again = acceptAgain, now < again { return }
    acceptAgain = nil
    let app = settings.app
    let talks: [(Listener, (Int) -> SenderConnection.Talk)] = [
      (doors.pushes, { .sender(SenderSession(app: app, sender: $0)) }),
      (doors.feedback, { _ in .feedback(FeedbackSession()) }),
    ]
    for (listener, talk) in talks {
      // The number is limited, so that earlier connections make progress with their handshakes.
      for _ in 0..<Self.arrivalsAtOnce {
        guard listener.hasArrival, makeRoom() else { break }
        guard case .socket(let socket, let peer, let network) = arrival(at: listener) else { break }
        if let number = handshakes.surplus(before: network) { evict(number) }
        admit(socket, peer, network, doors.tls, talk)
      }
    }
  }

  private static let arrivalsAtOnce = 32

  /// Cuts off a connection whose handshake is incomplete.
  ///
  /// Evictions are counted and reported at most every ten seconds, because a flood must not fill
  /// the log.
  private func evict(_ number: Int) {
    connections[number] = nil
    handshakes.remove(number)
    evicted += 1
    if let last = reportedEviction, now - last < .seconds(10) { return }
    reportedEviction = now
    notify(.handshakesEvicted(evicted))
    evicted = 0
  }

  private func arrival(at listener: Listener) -> Listener.Arrival {
    let arrival = listener.accept()
    if case .exhausted = arrival {
      notify(.failed("no descriptor is free for a further connection"))
      acceptAgain = now + .seconds(1)
    }
    return arrival
  }

  /// Returns whether a connection may be accepted.
  ///
  /// At the connection limit an incomplete handshake is evicted or, failing that, a sender that has
  /// been silent for long is dropped; otherwise new connections wait to be accepted.
  private func makeRoom() -> Bool {
    if connections.count < settings.connectionLimit {
      isFull = false
      return true
    }
    if let number = handshakes.oldestOfLargest {
      evict(number)
      return true
    }
    let quiet = connections.values.filter { connection in
      guard connection.phase == .open, case .sender(let talk) = connection.talk else {
        return false
      }
      return talk.step == .read && now - connection.lastHeard > settings.idleLimit
    }
    if let longest = quiet.min(by: { $0.lastHeard < $1.lastHeard }) {
      drop(longest, "made room: it was silent for the longest")
      return true
    }
    if !isFull { notify(.full(settings.connectionLimit)) }
    isFull = true
    acceptAgain = now + .milliseconds(200)
    return false
  }

  /// Handles a socket that is ready.
  func move(_ connection: SenderConnection) {
    guard connections[connection.number] === connection else { return }
    switch connection.phase {
    case .handshake: shakeHands(connection)
    case .open, .closing:
      if connection.hasOutput {
        guard connection.flush(now: now) else { return drop(connection, "the peer hung up") }
        connection.deadline = now + settings.patience
      } else {
        connection.read(into: &scratch, now: now)
      }
      step(connection)
    case .lingering:
      if !connection.stream.discard(into: &scratch) { drop(connection) }
    }
  }

  private func shakeHands(_ connection: SenderConnection) {
    do throws(SenderConnection.TurnedAway) {
      guard try connection.shakeHands() else { return }
      if settings.clientCA != nil,
        connection.stream.peerSubject?.names(settings.bundleID) != true
      {
        throw SenderConnection.TurnedAway(
          reason: "its certificate is not for \(settings.bundleID)")
      }
    } catch {
      notify(.turnedAway(peer: connection.peer, reason: error.reason))
      connections[connection.number] = nil
      handshakes.remove(connection.number)
      return
    }
    handshakes.remove(connection.number)
    connection.phase = .open
    connection.deadline = nil
    // The first frames may have arrived with the end of the handshake.
    connection.read(into: &scratch, now: now)
    step(connection)
  }

  /// Performs the session's next step.
  func step(_ connection: SenderConnection) {
    guard connections[connection.number] === connection, connection.phase == .open else {
      return finish(connection)
    }
    switch connection.talk {
    case .sender(let talk): step(connection, talk)
    case .feedback(let talk): step(connection, talk)
    }
  }

  private func step(_ connection: SenderConnection, _ talk: SenderSession) {
    switch talk.step {
    case .read:
      // The limit counts from the start of the frame, not from its last byte.
      connection.deadline =
        talk.owesRest ? connection.deadline ?? now + settings.patience : nil
    case .wait: connection.deadline = nil
    case .commit:
      connection.deadline = nil
      if !ready.contains(connection.number) { ready.append(connection.number) }
    case .end(let packet):
      connection.ending = packet.map { "status \($0.status.rawValue)" } ?? connection.ending
      connection.send(packet?.bytes ?? [])
      close(connection)
    }
  }

  private func step(_ connection: SenderConnection, _ talk: FeedbackSession) {
    switch talk.step {
    case .ask: askForPhones(connection)
    case .forget: forgetPhones(connection)
    case .wait:
      guard !talk.page.isEmpty, !connection.hasOutput else { return }
      var talk = talk
      talk.flushed()
      connection.talk = .feedback(talk)
      forgetPhones(connection)
    case .end: close(connection)
    }
  }

  func close(_ connection: SenderConnection) {
    connection.phase = .closing
    connection.deadline = now + settings.patience
    guard connection.flush(now: now) else { return drop(connection, "the peer hung up") }
    finish(connection)
  }

  private func finish(_ connection: SenderConnection) {
    guard connection.phase == .closing, !connection.hasOutput else { return }
    connection.stream.sendClose()
    connection.phase = .lingering
    connection.deadline = now + settings.lingerLimit
    report(connection)
  }

  func expire(_ connection: SenderConnection) {
    guard let deadline = connection.deadline, deadline <= now else { return }
    switch connection.phase {
    case .handshake:
      notify(.turnedAway(peer: connection.peer, reason: "the handshake took too long"))
      connections[connection.number] = nil
      handshakes.remove(connection.number)
    case .open: drop(connection, "half a frame, or a reader too slow")
    case .closing: drop(connection, "it did not take the end")
    case .lingering: drop(connection)
    }
  }

  /// Closes a connection without further output.
  func drop(_ connection: SenderConnection, _ how: String? = nil) {
    guard connections.removeValue(forKey: connection.number) != nil else { return }
    handshakes.remove(connection.number)
    watch.forget(connection.number)
    if connection.phase == .lingering { return }
    connection.ending = how ?? connection.ending
    report(connection)
  }

  private func report(_ connection: SenderConnection) {
    watch.forget(connection.number)
    switch connection.talk {
    case .sender(let talk):
      if talk.isGone, talk.pending > 0 {
        notify(.lost(peer: connection.peer, pushes: talk.pending))
      }
      notify(
        .senderEnded(
          peer: connection.peer, pushes: talk.committed, repeats: talk.repeats,
          how: connection.ending ?? "the sender hung up"))
    case .feedback(let talk): notify(.feedbackRead(peer: connection.peer, phones: talk.reported))
    }
  }
}
