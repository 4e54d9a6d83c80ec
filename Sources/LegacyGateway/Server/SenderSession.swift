internal import RideCore

/// What is said with one sender: a value, moved on by bytes, by the desk's answers and by the end.
struct SenderSession {
  /// What there is to do.
  enum Step: Equatable {
    /// Read on.
    case read
    /// Commit what was read.
    case commit
    /// The desk is to answer first.
    case wait
    /// Say this, where there is anything to say, and hang up.
    case end(ErrorPacket?)
  }

  private enum Ending: Equatable {
    /// The sender has gone.
    case gone
    /// Something is wrong.
    case packet(ErrorPacket)
    /// The gateway goes, or can't reach the database.
    case shutdown
  }

  /// The most pushes, and bytes of them, that are read before they are committed.
  static let batchLimit = 500
  static let batchBytesLimit = 131_072

  private var parser: FrameParser
  private let sender: Int
  private var batch: [LegacyFrame] = []
  private var batchBytes = 0
  private var inFlight: [LegacyFrame] = []
  private var ending: Ending?
  private var lastCommitted: UInt32 = 0
  /// For whoever reads the log.
  private(set) var committed = 0
  private(set) var repeats = 0

  init(app: App, sender: Int) {
    parser = FrameParser(app: app)
    self.sender = sender
  }

  /// The sender has hung up: it can't be told anything.
  var isGone: Bool { ending == .gone }

  /// How many pushes are not committed.
  var pending: Int { batch.count + inFlight.count }

  /// Whether the sender owes the rest of a frame.
  var owesRest: Bool { parser.hasPart && step == .read }

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

  /// Whether it takes further bytes: one batch may be read while another is committed.
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

  /// Hands out what is to be committed now.
  mutating func takeBatch() -> [LegacyFrame] {
    inFlight = batch
    batch = []
    batchBytes = 0
    return inFlight
  }

  /// The desk has answered. Returns what is to be watched.
  mutating func taken(
    _ takings: ArraySlice<LegacyCommitResult>
  ) -> [(receipt: LegacyReceipt, identifier: UInt32)] {
    let frames = inFlight
    inFlight = []
    var watched: [(receipt: LegacyReceipt, identifier: UInt32)] = []
    for (push, taking) in zip(frames.map(\.push), takings) {
      switch taking {
      case .taken(let receipt):
        if let identifier = push.identifier { lastCommitted = identifier }
        committed += 1
        if receipt.isRepeat { repeats += 1 }
        watched.append((receipt, push.identifier ?? 0))
      case .refused: refuse(push.identifier ?? 0)
      case .leftOut: break
      }
    }
    parse()
    return watched
  }

  /// What was handed out is not committed, or nobody knows: it is to be handed out again.
  mutating func putBack() {
    batch = inFlight + batch
    batchBytes = batch.reduce(0) { $0 + $1.push.payload.utf8.count }
    inFlight = []
  }

  /// What is not committed won't be: the sender is told to come again.
  mutating func giveUp() {
    batch = []
    ending = .shutdown
  }

  /// A push of it went to a token that reaches no phone: what is not committed yet is dropped.
  mutating func refuse(_ identifier: UInt32) {
    batch = []
    ending = .packet(ErrorPacket(.invalidToken, identifier: identifier))
  }

  /// No more bytes come.
  mutating func hangUp() {
    ending = ending ?? .gone
  }

  /// The gateway goes: what was read is still committed.
  mutating func shutDown() {
    ending = ending ?? .shutdown
  }
}
