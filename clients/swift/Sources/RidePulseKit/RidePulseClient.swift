import Foundation

/// Reports a phone's tokens, cards, contacts and receipts to your backend, and stores what waits.
///
/// Each call returns once it is stored; it is sent and repeated by itself while the app runs, and
/// again after the next start. One process has one client.
public actor RidePulseClient {
  /// Seconds until a file that could not be read is read again.
  private static let pauseOfReading = 10.0

  private let configuration: KitConfiguration
  private let transport: any CallTransport
  private let surroundings: Surroundings
  private let file: QueueFile
  private let receipts: ReceiptFolder
  private let tokens: TokenFolder
  private var identity: CallQueue.Identity
  private var queue: CallQueue
  /// What happened while the file could not be read, which `queue` has without what is stored; nil since it was.
  private var unread: [(inout CallQueue) -> Void]?
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
    tokens = TokenFolder(folder: configuration.folder)
    identity = CallQueue.Identity(
      app: configuration.app, installation: configuration.installation,
      environment: configuration.environment, process: UUID().uuidString)
    let loaded = file.load()
    unread = loaded.queue == nil ? [] : nil
    queue = loaded.queue ?? CallQueue()
    queue.begin(identity)
    if let problem = loaded.problem { configuration.onEvent(problem) }
  }

  /// The person who is signed in, as the queue has it; unknown while its file can't be read.
  public var owner: String? {
    _ = readAgain()
    return queue.session?.owner
  }

  /// Begins a session, or goes on with that of the same person; sends what waits. Call it at each launch
  /// with a session, and after each sign-in.
  public func signIn(_ owner: String) async {
    var headers: [String: String]?
    if let former = self.owner, former != owner {
      headers = await configuration.authorization(former)
    }
    change { $0.signIn(owner, formerHeaders: headers, at: $1) }
    collect()
    advance()
  }

  /// Ends the session. Call it before your own session ends: the sign-out is stored with the session's
  /// headers until the backend has it, also if the app ends or has no network meanwhile.
  public func signOut() async {
    guard let owner else {
      // The file that can't be read may name a person, whose headers are asked for when the sign-out is sent.
      if unread != nil { change { $0.signOut(headers: nil, at: $1) } }
      return advance()
    }
    let headers = await configuration.authorization(owner)
    // Another person may have signed in meanwhile, which signed this one out.
    guard queue.session?.owner == owner else { return }
    change { $0.signOut(headers: headers, at: $1) }
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
    change { queue, _ in queue.hurry() }
    collect()
    advance()
  }

  /// Names the installation as soon as it is known, if the configuration could not.
  public func identify(_ installation: String) {
    identity.installation = installation
    queue.identify(installation)
  }

  /// The app's name in the rule files.
  var app: String { configuration.app }

  /// Makes the registered controls of an app these.
  func reportControls(tokens: Set<String>, of app: String) {
    change { queue, now in
      for report in queue.controls(tokens, of: app) { queue.add(report, at: now) }
    }
    advance()
  }

  func report(_ report: Report) {
    change { $0.add(report, at: $1) }
    advance()
  }

  func reportPresent(cards: Set<String>) {
    change { $0.cardsPresent(cards, at: $1) }
    advance()
  }

  private func change(_ act: @escaping (inout CallQueue, Date) -> Void) {
    let now = surroundings.now()
    act(&queue, now)
    unread?.append { act(&$0, now) }
  }

  /// Returns whether the queue has what is stored; a file that could not be read is tried again.
  private func readAgain() -> Bool {
    guard let acts = unread else { return true }
    let loaded = file.load()
    guard var stored = loaded.queue else { return false }
    stored.begin(identity)
    for act in acts { act(&stored) }
    (queue, unread) = (stored, nil)
    if let problem = loaded.problem { configuration.onEvent(problem) }
    collect()
    return true
  }

  /// Takes what the extensions left for the app.
  private func collect() {
    // Until the file is read it is not known whose it is.
    guard unread == nil else { return }
    if queue.session != nil {
      for left in tokens.all() { queue.add(left, at: surroundings.now()) }
    }
    collectReceipts()
  }

  private func collectReceipts() {
    let found = receipts.all()
    for receipt in found {
      // Numbers of sessions begin again after a broken file.
      let isCurrent =
        receipt.session == queue.session?.number && receipt.owner == queue.session?.owner
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
    guard readAgain() else {
      for waiter in Array(waiters.keys) { endWait(waiter) }
      return wait(Self.pauseOfReading)
    }
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
    wait(pause.map { max(0.01, $0.timeIntervalSince(surroundings.now())) })
    if !isBusy { for waiter in Array(waiters.keys) { endWait(waiter) } }
  }

  /// Goes on after seconds; nil means after the next call.
  private func wait(_ seconds: Double?) {
    timer?.cancel()
    timer = seconds.map { seconds in
      Task { [surroundings] in
        await surroundings.sleep(seconds)
        if !Task.isCancelled { self.advance() }
      }
    }
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
