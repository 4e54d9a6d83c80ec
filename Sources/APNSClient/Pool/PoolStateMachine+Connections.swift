extension PoolStateMachine {
  // MARK: Connections come and go

  /// Records that a connection is open; its thread will ask for pushes.
  mutating func connected(_ id: Int, at now: MonotonicTime) {
    guard let seat = seats.firstIndex(where: { $0.id == id }) else { return }
    countOpened()
    seats[seat].phase = .ready
    seats[seat].since = now
    seats[seat].busyAt = now
    // Its thread asks for pushes at once, for one stream.
    seats[seat].isSignalled = true
    seats[seat].load.spare = 1
  }

  /// Handles a connection that finishes its streams and takes no more, for a reason given by the
  /// server.
  mutating func leaving(_ id: Int, problem: String, at now: MonotonicTime) -> Orders {
    guard let seat = seats.firstIndex(where: { $0.id == id }), seats[seat].phase == .ready else {
      return Orders()
    }
    countLoss(of: seats[seat], problem: problem, at: now)
    seats[seat].phase = .leaving
    return dispatch(at: now)
  }

  /// Removes a connection that has ended or could not be opened; `problem` gives the reason.
  ///
  /// Returns how long no other connection is opened.
  mutating func ended(_ id: Int, problem: String?, at now: MonotonicTime) -> (
    wait: Duration?, Orders
  ) {
    guard let seat = seats.firstIndex(where: { $0.id == id }) else { return (nil, Orders()) }
    let old = seats.remove(at: seat)
    if let problem, old.phase != .leaving { countLoss(of: old, problem: problem, at: now) }
    return (notBefore.map { $0 - now }, dispatch(at: now))
  }

  /// Counts a connection that did not live long as a failure, whichever side ended it.
  ///
  /// Otherwise a server or proxy that drops each connection after its first push would cause a new
  /// connection for each push.
  private mutating func countLoss(of seat: PooledConnection, problem: String, at now: MonotonicTime)
  {
    lastTrouble = problem
    let lived = seat.phase != .connecting && seat.load.isProved
    if lived, now - seat.since >= settings.shortLife {
      backoff.succeeded()
    } else {
      notBefore = now + backoff.failed()
    }
  }

  // MARK: What to do now

  /// Wakes connections that can take queued pushes, and opens another if they are not enough.
  mutating func dispatch(at now: MonotonicTime) -> Orders {
    var orders = Orders()
    guard !isClosed, !queue.isEmpty else { return orders }
    var uncovered = queue.count
    for seat in seats where seat.isSignalled && isUsable(seat) { uncovered -= seat.load.spare }
    for index in seats.indices where uncovered > 0 && !seats[index].isSignalled {
      guard isUsable(seats[index]), seats[index].load.spare > 0 else { continue }
      seats[index].isSignalled = true
      uncovered -= seats[index].load.spare
      orders.wake.append(seats[index].id)
    }
    var blockedUntil: MonotonicTime?
    if wantsAnother(for: uncovered) {
      blockedUntil = mayNotOpenBefore(at: now)
      if blockedUntil == nil { orders.open = open(at: now) }
    }
    orders.superviseAt = queue.nextDeadline
    if let blockedUntil { orders.superviseAt = min(blockedUntil, orders.superviseAt ?? .never) }
    return orders
  }

  private mutating func open(at now: MonotonicTime) -> Int {
    let id = nextID
    nextID += 1
    seats.append(PooledConnection(id: id, since: now, busyAt: now))
    notBefore = nil
    return id
  }

  private func isUsable(_ seat: PooledConnection) -> Bool {
    seat.phase == .ready && !seat.load.isSuspect
  }

  /// Returns whether another connection is worth opening.
  ///
  /// It is if none is usable, or if all are full and more pushes wait than one of them carries at a
  /// time.
  private func wantsAnother(for uncovered: Int) -> Bool {
    let live = seats.filter { $0.phase != .leaving }
    guard live.count < max(1, settings.maxConnections) else { return false }
    // Leaving connections count too, so that the total stays bounded while a server sends GOAWAY.
    guard seats.count < 2 * max(1, settings.maxConnections) else { return false }
    let usable = live.filter { isUsable($0) }
    if usable.isEmpty { return !live.contains { $0.phase == .connecting } }
    if usable.allSatisfy({ !$0.load.isProved }) { return uncovered > 0 }
    return uncovered >= max(settings.growAt, usable.map(\.load.limit).max() ?? 1)
  }

  /// Returns until when no connection may be opened.
  ///
  /// Connections are opened one at a time, each one proved before the next or given `patience` to
  /// be, and none before the back-off ends.
  private func mayNotOpenBefore(at now: MonotonicTime) -> MonotonicTime? {
    var latest = notBefore
    for seat in seats {
      switch seat.phase {
      case .connecting: return .never
      case .ready where !seat.load.isProved && !seat.load.isSuspect:
        latest = max(latest ?? seat.since, seat.since + settings.patience)
      case .ready, .leaving: break
      }
    }
    guard let latest, latest > now else { return nil }
    return latest
  }

  /// Returns whether a connection is superfluous: idle for long while another, proved one is open.
  func isSpare(_ seat: PooledConnection, at now: MonotonicTime) -> Bool {
    guard seat.load.inFlight == 0, now - seat.busyAt >= settings.idleTimeout else { return false }
    return seats.contains { $0.id != seat.id && isUsable($0) && $0.load.isProved }
  }
}

extension MonotonicTime {
  /// A point later than any other.
  static let never = MonotonicTime(nanoseconds: .max)
}

extension PoolStateMachine {
  func statistics() -> TransportStatistics {
    let open = seats.filter { $0.phase == .ready }
    return TransportStatistics(
      openConnections: open.count, inFlight: seats.reduce(0) { $0 + $1.load.inFlight },
      queued: queue.count, streamLimits: open.map(\.load.limit), openedTotal: openedTotal)
  }
}
