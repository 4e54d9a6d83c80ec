internal import RideCore

/// What is said on one connection of the feedback port: page after page, each noted once the peer's
/// side of the socket has it, and then the end.
struct FeedbackSession {
  enum Step: Equatable {
    /// Ask the desk for a page.
    case ask
    /// The desk is to answer, or the page is on its way.
    case wait
    /// Note this page: its bytes have left.
    case forget
    case end
  }

  static let pageSize = 500

  private(set) var step = Step.ask
  private(set) var page: [DisabledPhone] = []
  /// For whoever reads the log.
  private(set) var reported = 0
  private var isStopping = false

  mutating func asked() { step = .wait }

  /// A page has come; returns its bytes.
  mutating func receive(_ phones: [DisabledPhone]) -> [UInt8] {
    page = phones
    if phones.isEmpty || isStopping { step = .end }
    return step == .end ? [] : phones.flatMap(\.tuple)
  }

  /// All bytes of the page are the system's now.
  mutating func flushed() {
    if step == .wait, !page.isEmpty { step = .forget }
  }

  /// The page is noted.
  mutating func forgotten() {
    reported += page.count
    page = []
    step = isStopping ? .end : .ask
  }

  mutating func fail() { step = .end }

  mutating func shutDown() {
    isStopping = true
    if step == .ask { step = .end }
  }
}

extension DisabledPhone {
  /// Seconds, length, token, as the feedback service wrote them.
  var tuple: [UInt8] {
    let seconds = UInt32(clamping: since.epochSeconds)
    let digits = token.hex.utf8.map { UInt8($0 < 0x3a ? $0 - 0x30 : $0 - 0x57) }
    let bytes = stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: seconds >> $0) }
      + [UInt8(truncatingIfNeeded: bytes.count >> 8), UInt8(truncatingIfNeeded: bytes.count)]
      + bytes
  }
}
