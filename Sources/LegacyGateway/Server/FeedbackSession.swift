internal import RideCore

/// The state of one connection of the feedback port.
///
/// It sends page after page, each recorded as reported once the socket has accepted all its bytes,
/// and then ends.
struct FeedbackSession {
  enum Step: Equatable {
    /// Request a page from the store.
    case ask
    /// Wait for the store, or until the page is sent.
    case wait
    /// Record this page as reported: all its bytes were sent.
    case forget
    case end
  }

  static let pageSize = 500

  private(set) var step = Step.ask
  private(set) var page: [DisabledPhone] = []
  /// The number of reported phones, for the log.
  private(set) var reported = 0
  private var isStopping = false

  mutating func asked() { step = .wait }

  /// Accepts a page from the store and returns its bytes.
  mutating func receive(_ phones: [DisabledPhone]) -> [UInt8] {
    page = phones
    if phones.isEmpty || isStopping { step = .end }
    return step == .end ? [] : phones.flatMap(\.tuple)
  }

  /// Records that the system has accepted all bytes of the page.
  mutating func flushed() {
    if step == .wait, !page.isEmpty { step = .forget }
  }

  /// Records that the store has recorded the page as reported.
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
  /// Seconds, length and token, in the form of Apple's feedback service.
  var tuple: [UInt8] {
    let seconds = UInt32(clamping: since.epochSeconds)
    let digits = token.hex.utf8.map { UInt8($0 < 0x3a ? $0 - 0x30 : $0 - 0x57) }
    let bytes = stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: seconds >> $0) }
      + [UInt8(truncatingIfNeeded: bytes.count >> 8), UInt8(truncatingIfNeeded: bytes.count)]
      + bytes
  }
}
