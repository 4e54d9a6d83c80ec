import Base
internal import RideCore
internal import SystemSupport

/// The state of one connection of the feedback port.
///
/// It sends page after page, each recorded as reported once the socket has accepted all its bytes,
/// and then ends.
struct FeedbackSession {
  enum Step: Equatable {
    /// Request a page from the store.
    case request
    /// Wait for the store, or until the page is sent.
    case wait
    /// Record this page as reported: all its bytes were sent.
    case record
    case end
  }

  static let pageSize = 500

  private(set) var step = Step.request
  private(set) var page: [DisabledPhone] = []
  /// The number of reported phones, for the log.
  private(set) var reported = 0
  private var isStopping = false

  mutating func requested() { step = .wait }

  /// Accepts a page from the store and returns its bytes.
  mutating func receive(_ phones: [DisabledPhone]) -> [UInt8] {
    page = phones
    if phones.isEmpty || isStopping { step = .end }
    return step == .end ? [] : phones.flatMap(\.tuple)
  }

  /// Records that the system has accepted all bytes of the page.
  mutating func flushed() {
    if step == .wait, !page.isEmpty { step = .record }
  }

  /// Records that the store has recorded the page as reported.
  mutating func recorded() {
    reported += page.count
    page = []
    step = isStopping ? .end : .request
  }

  mutating func fail() { step = .end }

  mutating func shutDown() {
    isStopping = true
    if step == .request { step = .end }
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

/// Reads disabled phones from the store for the sessions of the feedback port, and records them as
/// reported.
struct FeedbackReporter {
  let app: App
  let store: any LegacyPushStore
  let inbox: Inbox<LoopMessage>
  let notify: @Sendable (GatewayEvent) -> Void

  /// Performs the session's next step; returns false if the connection is to be closed.
  func step(_ connection: SenderConnection, _ session: FeedbackSession) -> Bool {
    var session = session
    switch session.step {
    case .request:
      session.requested()
      connection.feedback = session
      requestPage(for: connection.number)
    case .record: record(session.page, for: connection)
    case .wait:
      guard !session.page.isEmpty, !connection.hasOutput else { return true }
      session.flushed()
      connection.feedback = session
      record(session.page, for: connection)
    case .end: return false
    }
    return true
  }

  private func requestPage(for number: Int) {
    Task { [store, inbox, app] in
      let result: Result<[DisabledPhone], any Error>
      do {
        result = .success(try await store.disabled(of: app, limit: FeedbackSession.pageSize))
      } catch {
        result = .failure(error)
      }
      inbox.put(.phones(connection: number, result))
    }
  }

  private func record(_ page: [DisabledPhone], for connection: SenderConnection) {
    connection.deadline = nil
    Task { [store, inbox, number = connection.number] in
      let result: Result<Void, any Error>
      do { result = .success(try await store.forget(page)) } catch { result = .failure(error) }
      inbox.put(.recorded(connection: number, result))
    }
  }

  /// Handles the store's page of phones.
  func receive(_ result: Result<[DisabledPhone], any Error>, for connection: SenderConnection) {
    guard var session = connection.feedback else { return }
    switch result {
    case .success(let phones): connection.send(session.receive(phones))
    case .failure(let error):
      notify(.failed("phones can't be read: \(error)"))
      session.fail()
    }
    connection.feedback = session
  }

  /// Handles the end of recording a page.
  func recorded(_ result: Result<Void, any Error>, for connection: SenderConnection) {
    guard var session = connection.feedback else { return }
    switch result {
    case .success: session.recorded()
    case .failure(let error):
      // The phones will be reported again.
      notify(.failed("phones can't be recorded as reported: \(error)"))
      session.fail()
    }
    connection.feedback = session
  }
}
