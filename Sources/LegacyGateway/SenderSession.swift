internal import RideCore

/// The state of the session with one sender.
///
/// A value, driven by received bytes, by the store's answers and by the end of the connection.
struct SenderSession {
  /// The next action.
  enum Step: Equatable {
    /// Read more bytes.
    case read
    /// Commit the pushes read so far.
    case commit
    /// Wait for the store's answer.
    case wait
    /// Send the packet, if any, and close the connection.
    case end(ErrorPacket?)
  }

  private enum Ending: Equatable {
    /// The sender has disconnected.
    case gone
    /// An error was found.
    case packet(ErrorPacket)
    /// The gateway shuts down, or can't reach the database.
    case shutdown
  }

  /// The limits, in pushes and payload bytes, of what is read before a commit.
  static let batchLimit = 500
  static let batchBytesLimit = 131_072

  private var parser: FrameParser
  private let sender: Int
  private var batch: [LegacyFrame] = []
  private var batchBytes = 0
  private var inFlight: [LegacyFrame] = []
  private var ending: Ending?
  private var lastCommitted: UInt32 = 0
  /// Counts for the log.
  private(set) var committedCount = 0
  private(set) var repeats = 0

  init(app: App, sender: Int) {
    parser = FrameParser(app: app)
    self.sender = sender
  }

  /// True if the sender has disconnected and can't be notified.
  var isGone: Bool { ending == .gone }

  /// The number of pushes that are not committed.
  var pending: Int { batch.count + inFlight.count }

  /// True if the sender has sent only part of a frame.
  var hasPartialFrame: Bool { parser.hasPart && step == .read }

  var step: Step {
    if !inFlight.isEmpty { return .wait }
    if !batch.isEmpty { return .commit }
    switch ending {
    case nil: return .read
    case .gone: return .end(nil)
    case .packet(let packet): return .end(packet)
    case .shutdown: return .end(ErrorPacket(.shutdown, identifier: lastCommitted))
    }
  }

  /// True if further bytes may be read: one batch may be read while another is being committed.
  var hasRoom: Bool {
    ending == nil && batch.count < Self.batchLimit && batchBytes < Self.batchBytesLimit
  }

  mutating func receive(_ bytes: ArraySlice<UInt8>) {
    parser.append(bytes)
    parse()
  }

  private mutating func parse() {
    while hasRoom {
      switch parser.next() {
      case .more: return
      case .refused(let packet): ending = .packet(packet)
      case .push(let push):
        batch.append(LegacyFrame(sender: sender, push: push))
        batchBytes += push.payload.utf8.count
      }
    }
  }

  /// Returns the pushes to commit now.
  mutating func takeBatch() -> [LegacyFrame] {
    inFlight = batch
    batch = []
    batchBytes = 0
    return inFlight
  }

  /// Handles the store's answer; returns the pushes to watch.
  mutating func committed(
    _ results: ArraySlice<LegacyCommitResult>
  ) -> [(receipt: LegacyReceipt, identifier: UInt32)] {
    let frames = inFlight
    inFlight = []
    var watched: [(receipt: LegacyReceipt, identifier: UInt32)] = []
    for (push, result) in zip(frames.map(\.push), results) {
      switch result {
      case .taken(let receipt):
        if let identifier = push.identifier { lastCommitted = identifier }
        committedCount += 1
        if receipt.isRepeat { repeats += 1 }
        watched.append((receipt, push.identifier ?? 0))
      case .refused: refuse(push.identifier ?? 0)
      case .leftOut: break
      }
    }
    parse()
    return watched
  }

  /// Puts pushes back whose commit failed, or whose outcome is unknown, to be committed again.
  mutating func putBack() {
    batch = inFlight + batch
    batchBytes = batch.reduce(0) { $0 + $1.push.payload.utf8.count }
    inFlight = []
  }

  /// Drops the uncommitted pushes; the sender receives the shutdown status, so that it sends them
  /// again.
  mutating func giveUp() {
    batch = []
    ending = .shutdown
  }

  /// Ends the session because a push went to a token that reaches no phone.
  ///
  /// Pushes that are not committed yet are dropped.
  mutating func refuse(_ identifier: UInt32) {
    batch = []
    ending = .packet(ErrorPacket(.invalidToken, identifier: identifier))
  }

  /// Records that no more bytes will arrive.
  mutating func hangUp() {
    ending = ending ?? .gone
  }

  /// Begins the shutdown; pushes already read are still committed.
  mutating func shutDown() {
    ending = ending ?? .shutdown
  }
}
