internal import RideCore

// Calls the store and handles its answers.
extension GatewayLoop {
  /// The number of pushes after which no further sender joins a transaction.
  private static let commitLimit = 500

  func take(_ post: LoopMessage) {
    switch post {
    case .taken(let parts, let result): taken(parts, result)
    case .verdicts(let asked, let result): heard(asked, result)
    case .disabled(let number, let result): page(of: number, result)
    case .forgotten(let number, let result): forgotten(number, result)
    case .stop: stop()
    }
  }

  /// Commits the pushes of all senders that have some, one transaction at a time.
  ///
  /// After a failure each transaction has only one sender, because one sender's data must not block
  /// all others.
  func commit() {
    if isCommitting || ready.isEmpty { return }
    if let again = commitAgain, now < again { return }
    commitAgain = nil
    let limit = failingSince == nil ? Self.commitLimit : 1
    var frames: [LegacyFrame] = []
    var parts: [(connection: Int, count: Int)] = []
    while let number = ready.first, frames.isEmpty || frames.count < limit {
      ready.removeFirst()
      guard let connection = connections[number], case .sender(var talk) = connection.talk,
        talk.step == .commit
      else { continue }
      let batch = talk.takeBatch()
      connection.talk = .sender(talk)
      frames += batch
      parts.append((number, batch.count))
    }
    if frames.isEmpty { return }
    isCommitting = true
    Task { [store, mailbox, frames, parts] in
      let result: Result<[LegacyCommitResult], any Error>
      do { result = .success(try await store.take(frames)) } catch { result = .failure(error) }
      mailbox.put(.taken(parts, result))
    }
  }

  private func taken(
    _ parts: [(connection: Int, count: Int)], _ result: Result<[LegacyCommitResult], any Error>
  ) {
    isCommitting = false
    var takings: ArraySlice<LegacyCommitResult> = []
    switch result {
    case .success(let all):
      takings = all[...]
      failingSince = nil
    case .failure(let error):
      if failingSince == nil { notify(.failed("pushes can't be committed: \(error)")) }
      failingSince = failingSince ?? now
      commitAgain = now + .milliseconds(500)
    }
    for (number, count) in parts {
      let own = takings.prefix(count)
      takings = takings.dropFirst(count)
      guard let connection = connections[number], case .sender(var talk) = connection.talk else {
        continue
      }
      if own.count == count {
        for (receipt, identifier) in talk.taken(own) {
          watch.add(receipt, identifier: identifier, connection: number, now: now)
        }
      } else {
        talk.putBack()
        if mustGiveUp(talk) {
          if talk.isGone { notify(.lost(peer: connection.peer, pushes: talk.pending)) }
          talk.giveUp()
        }
      }
      connection.talk = .sender(talk)
      // TLS may hold bytes that it has already read; the socket does not report them.
      connection.read(into: &scratch, now: now)
      step(connection)
    }
    if !watch.isEmpty { hurry() }
  }

  /// Returns whether to stop retrying; a disconnected sender can't send again, so its pushes are
  /// retried for longer.
  private func mustGiveUp(_ talk: SenderSession) -> Bool {
    let limit = talk.isGone ? settings.keepLimit : settings.outageLimit
    return isStopping || failingSince.map { now - $0 >= limit } ?? false
  }

  private func hurry() {
    askInterval = .milliseconds(100)
    nextAsk = min(nextAsk, now + askInterval)
  }

  /// Queries the ledger about the pushes of connected senders.
  func ask() {
    if isAsking || watch.isEmpty || isStopping || now < nextAsk { return }
    let asked = watch.next(2000, now: now)
    if asked.isEmpty { return }
    isAsking = true
    Task { [store, mailbox, asked] in
      let result: Result<[PushID: LegacyVerdict], any Error>
      do { result = .success(try await store.verdicts(on: asked)) } catch {
        result = .failure(error)
      }
      mailbox.put(.verdicts(asked, result))
    }
  }

  private func heard(
    _ asked: [LegacyReceipt], _ result: Result<[PushID: LegacyVerdict], any Error>
  ) {
    isAsking = false
    let verdicts = (try? result.get()) ?? [:]
    // The interval doubles, up to a second, as long as there are no verdicts.
    askInterval = verdicts.isEmpty ? min(askInterval * 2, .seconds(1)) : .milliseconds(100)
    nextAsk = now + askInterval
    for refused in watch.record(asked, verdicts) {
      guard let connection = connections[refused.connection],
        case .sender(var talk) = connection.talk, connection.phase == .open
      else { continue }
      talk.refuse(refused.identifier)
      connection.talk = .sender(talk)
      step(connection)
    }
  }

  func askForPhones(_ connection: SenderConnection) {
    guard case .feedback(var talk) = connection.talk else { return }
    talk.asked()
    connection.talk = .feedback(talk)
    let (number, app) = (connection.number, settings.app)
    Task { [store, mailbox] in
      let result: Result<[DisabledPhone], any Error>
      do {
        result = .success(try await store.disabled(of: app, limit: FeedbackSession.pageSize))
      } catch {
        result = .failure(error)
      }
      mailbox.put(.disabled(connection: number, result))
    }
  }

  private func page(of number: Int, _ result: Result<[DisabledPhone], any Error>) {
    guard let connection = connections[number], case .feedback(var talk) = connection.talk else {
      return
    }
    switch result {
    case .success(let phones): connection.send(talk.receive(phones))
    case .failure(let error):
      notify(.failed("phones can't be read: \(error)"))
      talk.fail()
    }
    connection.talk = .feedback(talk)
    connection.deadline = now + settings.patience
    guard connection.flush(now: now) else { return drop(connection, "the peer hung up") }
    step(connection)
  }

  func forgetPhones(_ connection: SenderConnection) {
    guard case .feedback(let talk) = connection.talk else { return }
    connection.deadline = nil
    let (number, page) = (connection.number, talk.page)
    Task { [store, mailbox] in
      let result: Result<Void, any Error>
      do { result = .success(try await store.forget(page)) } catch { result = .failure(error) }
      mailbox.put(.forgotten(connection: number, result))
    }
  }

  private func forgotten(_ number: Int, _ result: Result<Void, any Error>) {
    guard let connection = connections[number], case .feedback(var talk) = connection.talk else {
      return
    }
    switch result {
    case .success: talk.forgotten()
    case .failure(let error):
      // The phones will be reported again.
      notify(.failed("what was told can't be noted: \(error)"))
      talk.fail()
    }
    connection.talk = .feedback(talk)
    step(connection)
  }
}
