internal import CLibpq

/// The one owner of a libpq connection. Nothing in here waits; for use on one thread only.
@safe final class Connection {
  enum Progress: Equatable { case wantsRead, wantsWrite, open, failed }

  private let handle: OpaquePointer
  /// What the server is known to hold: prepared statements by name.
  var prepared: [String: String] = [:]

  /// Begins to connect; nil where memory is lacking.
  init?(_ settings: ConnectionSettings) {
    let pairs = settings.parameters
    guard
      let handle = unsafe CStrings(pairs.map(\.key)).withPointers({ keys in
        unsafe CStrings(pairs.map(\.value)).withPointers { values in
          unsafe PQconnectStartParams(keys, values, 1)
        }
      })
    else { return nil }
    unsafe self.handle = handle
    // Without this, libpq prints the server's notices to standard error.
    _ = unsafe PQsetNoticeProcessor(handle, { _, _ in }, nil)
  }

  deinit {
    unsafe PQfinish(handle)
  }

  /// The file to poll; negative where there is none. May change until the connection is open.
  var socket: Int32 { unsafe PQsocket(handle) }

  var errorMessage: String {
    unsafe PQerrorMessage(handle).map { unsafe String(cString: $0) } ?? "no reason is known"
  }

  /// As `server_version_num` has it: 150018 is 15.18.
  var serverVersion: Int { unsafe Int(PQserverVersion(handle)) }

  var backendPID: Int32 { unsafe PQbackendPID(handle) }

  var isOutsideTransaction: Bool { unsafe PQtransactionStatus(handle) == PQTRANS_IDLE }

  /// Moves the connecting on, once the socket is ready for what the last call asked.
  func advance() -> Progress {
    switch unsafe PQconnectPoll(handle) {
    case PGRES_POLLING_OK: .open
    case PGRES_POLLING_READING: .wantsRead
    case PGRES_POLLING_WRITING: .wantsWrite
    default: .failed
    }
  }

  /// To be called once, when the connection is open.
  func enterPipelineMode() -> Bool {
    unsafe PQsetnonblocking(handle, 1) == 0 && PQenterPipelineMode(handle) == 1
  }

  /// Puts all steps and the end of the transaction into libpq's buffer.
  func send(_ steps: [PipelineStep], of calls: [Call]) -> Bool {
    guard steps.allSatisfy({ send($0, of: calls) }) else { return false }
    return unsafe PQpipelineSync(handle) == 1
  }

  private func send(_ step: PipelineStep, of calls: [Call]) -> Bool {
    switch step {
    case .prepare(let statement):
      return unsafe PQsendPrepare(handle, statement.preparedName, statement.sql, 0, nil) == 1
    case .executePrepared(let index):
      let call = calls[index]
      return unsafe CStrings(call.parameters).withPointers { values in
        unsafe PQsendQueryPrepared(
          handle, call.statement.preparedName, Int32(call.parameters.count), values, nil, nil, 0)
          == 1
      }
    case .execute(let index):
      let call = calls[index]
      return unsafe CStrings(call.parameters).withPointers { values in
        unsafe PQsendQueryParams(
          handle, call.statement.sql, Int32(call.parameters.count), nil, values, nil, nil, 0) == 1
      }
    }
  }

  /// Leaves pipeline mode, which does not know the simple protocol, and sends the text.
  func send(script: String) -> Bool {
    unsafe PQexitPipelineMode(handle) == 1 && PQsendQuery(handle, script) == 1
  }

  /// To be called when all results of a script were read.
  func endScript() -> Bool { unsafe PQenterPipelineMode(handle) == 1 }

  /// Hands bytes to the kernel: true when all are there, nil when the connection is lost.
  func flush() -> Bool? {
    switch unsafe PQflush(handle) {
    case 0: true
    case 1: false
    default: nil
    }
  }

  /// Reads what has come; false when the connection is lost.
  func consumeInput() -> Bool { unsafe PQconsumeInput(handle) == 1 }

  /// True where the next result is not there yet.
  var isBusy: Bool { unsafe PQisBusy(handle) == 1 }

  /// The next result, or nil at the end of a step; only while not busy.
  func nextResult() -> QueryResult? {
    unsafe PQgetResult(handle).map { unsafe QueryResult(owning: $0) }
  }

  /// The next notification that has come, in order.
  func nextNotification() -> (channel: String, payload: String)? {
    guard let notification = unsafe PQnotifies(handle) else { return nil }
    defer { unsafe PQfreemem(notification) }
    let (channel, payload) = unsafe (notification.pointee.relname, notification.pointee.extra)
    return unsafe (
      channel.map { unsafe String(cString: $0) } ?? "",
      payload.map { unsafe String(cString: $0) } ?? ""
    )
  }

  /// What it takes to stop the running statement after this connection is gone.
  func makeCanceller() -> Canceller? {
    unsafe PQgetCancel(handle).map { unsafe Canceller(owning: $0) }
  }
}
