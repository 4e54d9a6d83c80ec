import Foundation

/// Reports a phone's tokens, cards, contacts and receipts to your backend, and stores what waits.
///
/// Each call returns once it is stored; it is sent and repeated by itself while the app runs, and
/// again after the next start. One process has one client.
public actor RidePulseClient {
  private let configuration: KitConfiguration
  private let transport: any CallTransport
  private let surroundings: Surroundings
  private let file: QueueFile
  private let receipts: ReceiptFolder
  private var queue: CallQueue
  private var timer: Task<Void, Never>?
  private var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
  private var waiterCount = 0

  /// Creates a client and loads what waits.
  public init(
    _ configuration: KitConfiguration, transport: any CallTransport = URLSessionTransport()
  ) {
    self.init(configuration, transport: transport, surroundings: Surroundings())
  }

  init(
    _ configuration: KitConfiguration, transport: any CallTransport, surroundings: Surroundings
  ) {
    (self.configuration, self.transport) = (configuration, transport)
    self.surroundings = surroundings
    file = QueueFile(folder: configuration.folder)
    receipts = ReceiptFolder(folder: configuration.folder)
    let loaded = file.load()
    queue = loaded.queue
    queue.begin(
      CallQueue.Identity(
        app: configuration.app, installation: configuration.installation,
        environment: configuration.environment, process: UUID().uuidString))
    if let problem = loaded.problem { configuration.onEvent(problem) }
  }

  /// The person who is signed in, as the queue has it.
  public var owner: String? { queue.session?.owner }

  /// Begins a session, or goes on with that of the same person; sends what waits. Call it at each launch
  /// with a session, and after each sign-in.
  public func signIn(_ owner: String) async {
    var headers: [String: String]?
    if let former = queue.session?.owner, former != owner {
      headers = await configuration.authorization(former)
    }
    queue.signIn(owner, formerHeaders: headers, at: surroundings.now())
    collectReceipts()
    advance()
  }

  /// Ends the session. Call it before your own session ends: the sign-out is stored with the session's
  /// headers until the backend has it, also if the app ends or has no network meanwhile.
  public func signOut() async {
    guard let owner = queue.session?.owner else { return }
    let headers = await configuration.authorization(owner)
    // Another person may have signed in meanwhile, which signed this one out.
    guard queue.session?.owner == owner else { return }
    queue.signOut(headers: headers, at: surroundings.now())
    advance()
  }

  /// Waits until nothing is on its way or due, at most for a time: before iOS suspends the app.
  public func flush(within limit: Duration) async {
    advance()
    guard isBusy else { return }
    waiterCount += 1
    let waiter = waiterCount
    let timeout = Task {
      try? await Task.sleep(for: limit)
      self.endWait(waiter)
    }
    await withCheckedContinuation { waiters[waiter] = $0 }
    timeout.cancel()
  }

  /// Sends at once what waits because of a failure: the app came to the foreground, or has a network.
  public func hurry() {
    queue.hurry()
    collectReceipts()
    advance()
  }

  /// The app's name in the rule files.
  var app: String { configuration.app }

  /// Returns what makes the registered controls of an app these.
  func reportsOfControls(tokens: Set<String>, of app: String) -> [Report] {
    queue.controls(tokens, of: app)
  }

  func report(_ report: Report) {
    queue.add(report, at: surroundings.now())
    advance()
  }

  func reportPresent(cards: Set<String>) {
    queue.cardsPresent(cards, at: surroundings.now())
    advance()
  }

  private func collectReceipts() {
    let found = receipts.all()
    for receipt in found {
      let isCurrent = receipt.session == queue.session?.number
      if isCurrent {
        queue.add(.seen(receipt.id), at: surroundings.now())
      } else {
        queue.note(.dropped("seen \(receipt.id)", "signed out"))
      }
    }
    // The files go once the queue has them: a receipt that is reported twice counts once.
    if !found.isEmpty, save() { for receipt in found { receipts.remove(receipt.id) } }
  }

  private var isBusy: Bool { !queue.inFlight.isEmpty }

  private func endWait(_ waiter: Int) { waiters.removeValue(forKey: waiter)?.resume() }

  /// Stores the queue, then sends what is due.
  private func advance() {
    var due: [Call] = []
    var pause: Date?
    loop: while true {
      switch queue.next(at: surroundings.now()) {
      case .send(let call): due.append(call)
      case .wait(let until):
        pause = until
        break loop
      case .idle: break loop
      }
    }
    save()
    for event in queue.takeEvents() { configuration.onEvent(event) }
    for call in due { Task { await self.send(call) } }
    timer?.cancel()
    timer = pause.map { until in
      let seconds = max(0.01, until.timeIntervalSince(surroundings.now()))
      return Task { [surroundings] in
        await surroundings.sleep(seconds)
        if !Task.isCancelled { self.advance() }
      }
    }
    if !isBusy { for waiter in Array(waiters.keys) { endWait(waiter) } }
  }

  @discardableResult private func save() -> Bool {
    do {
      try file.save(queue)
      return true
    } catch {
      queue.note(.notSaved("\(error)"))
      return false
    }
  }

  /// Notes on disk what leaves: the server has nothing that the queue does not know of.
  private func leaves(_ key: String) -> Bool {
    let known = queue.session
    guard queue.leaves(key) else { return false }
    if queue.session != known { save() }
    return true
  }

  private func send(_ call: Call) async {
    let result = await CallSender(configuration: configuration, transport: transport)
      .send(call) { await self.leaves(call.key) }
    queue.finished(
      call.key, result, at: surroundings.now(), jitter: surroundings.jitter())
    advance()
  }
}

/// Clock, chance and pauses, which tests command.
struct Surroundings: Sendable {
  var now: @Sendable () -> Date = { Date() }
  var jitter: @Sendable () -> Double = { .random(in: 0...1) }
  var sleep: @Sendable (Double) async -> Void = { try? await Task.sleep(for: .seconds($0)) }
}
