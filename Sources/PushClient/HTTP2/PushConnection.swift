import Glibc
import RideCore
import SystemSupport

/// Runs the event loop of one open connection on its own thread.
@safe
final class PushConnection {
  private let pool: Pool
  private let id: Int
  private let wake: EventFD
  private let curl: CurlConnection
  private let session: HTTP2Session
  private var token: PresentedToken
  private let output = OutputBuffer()
  private let input: UnsafeMutableRawBufferPointer
  private var closeAt: MonotonicTime?
  private var hasReportedDraining = false
  private var refusesCertificate = false

  /// Opens the connection; blocks.
  init(pool: Pool, id: Int, wake: EventFD, verifier: TLSVerifier) throws(CurlError) {
    self.pool = pool
    self.id = id
    self.wake = wake
    let configuration = pool.configuration
    let endpoint = pool.endpoint
    curl = try CurlConnection(
      to: endpoint, timeout: configuration.connectTimeout, verifier: verifier)
    let now = MonotonicTime.now()
    do throws(SigningKeyError) {
      token = try PresentedToken(pool.authentication, at: pool.now(), now)
    } catch {
      throw CurlError(text: error.description)
    }
    session = try HTTP2Session(
      settings: .init(configuration, pool.authentication.provider),
      headers: HeaderBlock(
        authority: endpoint.authority, authorization: token.authorization, path: pool.path),
      at: now, wall: pool.now())
    if token.authorization == [] { session.machine.authorized(by: false, at: now) }
    unsafe input = .allocate(byteCount: 32_768, alignment: 16)
  }

  deinit { unsafe input.deallocate() }

  /// Serves pushes until the connection ends; returns the reason for the end.
  func run() -> CurlError {
    do {
      while true {
        try turn()
        if session.machine.isFinished { return CurlError(text: finish()) }
        if let closeAt, closeAt <= MonotonicTime.now() { return fail(CurlError(text: "closed")) }
        try sleep()
      }
    } catch {
      return fail(error)
    }
  }

  private func turn() throws(CurlError) {
    session.wall = pool.now()
    try readAll()
    let now = MonotonicTime.now()
    session.endTimedOut(at: now)
    let due = session.machine.due(at: now)
    if due.sendsPing { session.ping() }
    if session.hasEnded { pool.willAsk(id, load: session.machine.load(at: now), at: now) }
    settle()
    if let lost = due.lost {
      pool.notify(id, .pingLost)
      throw CurlError(text: lost)
    }
    renewToken(at: now)
    repeat { try flush() } while takePushes()
    settle()
    if session.isDead, !session.machine.isFinished {
      throw CurlError(text: "the server broke HTTP/2")
    }
  }

  /// Takes pushes from the pool and submits them; returns false if there are none for now.
  private func takePushes() -> Bool {
    reportDraining()
    let now = MonotonicTime.now()
    let taken = pool.take(by: id, load: session.machine.load(at: now), at: now)
    closeAt = taken.closeAt ?? closeAt
    if closeAt != nil { session.machine.drain("closed") }
    if let why = taken.retires { session.machine.drain(why) }
    for queued in taken.pushes { session.submit(queued, at: now) }
    return !taken.pushes.isEmpty
  }

  private func renewToken(at now: MonotonicTime) {
    switch token.renew(at: session.wall, now) {
    case .keep: return
    case .recycle: session.machine.drain("its provider token is of another time")
    case .wait: session.machine.authorized(by: false, at: now)
    case .adopt(let authorization):
      session.headers.setAuthorization(authorization)
      session.machine.authorized(by: true, at: now)
    }
  }

  // MARK: Bytes

  private func flush() throws(CurlError) {
    while true {
      while output.hasRoom {
        let bytes = unsafe try session.nextOutput()
        if unsafe bytes.isEmpty { break }
        unsafe output.append(bytes)
      }
      if output.isEmpty { return }
      let taken = unsafe try output.offer { bytes throws(CurlError) in
        switch unsafe try curl.send(bytes) {
        case .bytes(let count): count
        case .wouldBlock, .ended: nil
        }
      }
      guard let taken else { return }
      session.sent += taken
    }
  }

  /// Reads until the TLS layer is empty, because `poll` does not report bytes that OpenSSL has
  /// buffered.
  private func readAll() throws(CurlError) {
    while true {
      switch unsafe try curl.receive(into: input) {
      case .wouldBlock: return
      case .ended: throw CurlError(text: "the server closed the connection")
      case .bytes(let count):
        session.machine.received(at: MonotonicTime.now())
        unsafe try session.receive(UnsafeRawBufferPointer(rebasing: input[..<count]))
      }
    }
  }

  private func sleep() throws(CurlError) {
    let now = MonotonicTime.now()
    let until = min(session.machine.wakeAt(), closeAt ?? .never)
    var events = Int16(POLLIN)
    if !output.isEmpty { events |= Int16(POLLOUT) }
    var descriptors = [
      pollfd(fd: curl.socket, events: events, revents: 0),
      pollfd(fd: wake.descriptor, events: Int16(POLLIN), revents: 0),
    ]
    unsafe _ = poll(&descriptors, 2, until.pollTimeout(from: now))
    if descriptors[1].revents != 0 { wake.clear() }
  }

  // MARK: Ends

  /// Delivers reports, returns pushes that another connection may send, and emits events.
  private func settle() {
    for event in session.events { pool.notify(id, event) }
    session.events.removeAll()
    if let serverTime = session.serverTime {
      session.serverTime = nil
      if let behind = token.learn(serverTime: serverTime, at: session.wall) {
        pool.notify(id, .clockSkew(behind))
      }
    }
    if session.hasTokenExpired {
      session.hasTokenExpired = false
      pool.notify(id, token.refused(at: session.wall))
      pool.supervise()
    }
    reportDraining()
    if !session.returned.isEmpty {
      let rejected = pool.requeue(session.returned)
      session.returned.removeAll()
      for (push, cause) in rejected { session.reports.add(push, .unsent(cause)) }
    }
    session.reports.deliver()
  }

  private func reportDraining() {
    guard !hasReportedDraining, case .draining(let why) = session.machine.phase else { return }
    hasReportedDraining = true
    pool.leaving(id, problem: why, refusesCertificate: refusesCertificate)
  }

  private func fail(_ why: CurlError) -> CurlError {
    refusesCertificate = why.refusesCertificate
    let endings = session.machine.lost(
      why.text, refusesCertificate: why.refusesCertificate, sent: session.sent, wall: session.wall)
    for ending in endings { session.finish(ending) }
    settle()
    return why
  }

  private func finish() -> String {
    guard case .draining(let why) = session.machine.phase else { return "closed" }
    session.terminate()
    // All answers have arrived, so the arrival of the GOAWAY does not matter.
    try? flush()
    settle()
    return why
  }
}

extension ConnectionSettings {
  init(_ configuration: APNsConfiguration, _ provider: Provider) {
    self.provider = provider
    maxStreams = max(1, configuration.maxStreams)
    pingTimeout = configuration.pingTimeout
    maxAge = configuration.maxAge
    fairWait = min(fairWait, configuration.requestTimeout / 3)
    timeoutsInARow = max(1, configuration.timeoutsInARow)
    switch provider {
    case .apns: pingAfter = configuration.pingAfter
    case .fcm:
      pingAfter = configuration.fcmPingAfter
      pingsIdle = false
      idleTimeout = configuration.fcmIdleTimeout
      startsProved = true
      streamsBeforeSettings = 100
    }
  }
}
