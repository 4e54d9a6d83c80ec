internal import CLibpq
internal import Foundation
internal import SystemSupport

/// The only owner of a libpq connection.
///
/// Nothing in this class blocks. It must be used on one thread only.
@safe final class LibpqConnection {
  enum Progress: Equatable { case wantsRead, wantsWrite, open, failed }

  private let handle: OpaquePointer
  /// The prepared statements that the server holds, by name.
  var prepared: [String: String] = [:]

  /// Begins to connect; returns nil if memory is exhausted.
  ///
  /// - Parameter first: The host to try first, see `ConnectionSettings.parameters`.
  init?(_ settings: ConnectionSettings, first: Int) {
    let pairs = settings.parameters(first: first)
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
    // Until the connection is open: `ConnectFailure` reads the SQLSTATE of a refusal.
    _ = unsafe PQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
  }

  deinit {
    unsafe PQfinish(handle)
  }

  /// The file descriptor to poll; negative if there is none.
  ///
  /// It may change until the connection is open.
  var socket: Int32 { unsafe PQsocket(handle) }

  var errorMessage: String {
    unsafe PQerrorMessage(handle).map { unsafe String(cString: $0) } ?? "no reason is known"
  }

  /// Why the attempt to connect failed.
  var connectFailure: ConnectFailure {
    ConnectFailure(
      verbose: errorMessage, needsPassword: unsafe PQconnectionNeedsPassword(handle) == 1)
  }

  /// The host and the port that are being tried or were reached; empty if libpq has none.
  var endpoint: (host: String, port: String) {
    let (host, port) = unsafe (PQhost(handle), PQport(handle))
    return unsafe (
      host.map { unsafe String(cString: $0) } ?? "", port.map { unsafe String(cString: $0) } ?? ""
    )
  }

  /// The version in the form of `server_version_num`: 150018 is 15.18.
  var serverVersion: Int { unsafe Int(PQserverVersion(handle)) }

  var backendPID: Int32 { unsafe PQbackendPID(handle) }

  var isOutsideTransaction: Bool { unsafe PQtransactionStatus(handle) == PQTRANS_IDLE }

  /// Continues connecting, once the socket is ready for what the previous call asked for.
  func advance() -> Progress {
    switch unsafe PQconnectPoll(handle) {
    case PGRES_POLLING_OK: .open
    case PGRES_POLLING_READING: .wantsRead
    case PGRES_POLLING_WRITING: .wantsWrite
    default: .failed
    }
  }

  /// Switches to pipeline mode; must be called once, when the connection is open.
  func enterPipelineMode() -> Bool {
    _ = unsafe PQsetErrorVerbosity(handle, PQERRORS_DEFAULT)
    return unsafe PQsetnonblocking(handle, 1) == 0 && PQenterPipelineMode(handle) == 1
  }

  /// Puts all steps and the Sync that ends the transaction into libpq's buffer.
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

  /// Leaves pipeline mode, which does not support the simple query protocol, and sends the text.
  func send(script: String) -> Bool {
    unsafe PQexitPipelineMode(handle) == 1 && PQsendQuery(handle, script) == 1
  }

  /// Returns to pipeline mode; must be called after all results of a script have been read.
  func endScript() -> Bool { unsafe PQenterPipelineMode(handle) == 1 }

  /// Writes buffered bytes to the socket: true if all are written, nil if the connection is lost.
  func flush() -> Bool? {
    switch unsafe PQflush(handle) {
    case 0: true
    case 1: false
    default: nil
    }
  }

  /// Reads the bytes that have arrived; false if the connection is lost.
  func consumeInput() -> Bool { unsafe PQconsumeInput(handle) == 1 }

  /// Whether the next result has not arrived yet.
  var isBusy: Bool { unsafe PQisBusy(handle) == 1 }

  /// Returns the next result, or nil at the end of a step; must not be called while busy.
  func nextResult() -> QueryResult? {
    unsafe PQgetResult(handle).map { unsafe QueryResult(owning: $0) }
  }

  /// Returns the next notification that has arrived, in order.
  func nextNotification() -> (channel: String, payload: String)? {
    guard let notification = unsafe PQnotifies(handle) else { return nil }
    defer { unsafe PQfreemem(notification) }
    let (channel, payload) = unsafe (notification.pointee.relname, notification.pointee.extra)
    return unsafe (
      channel.map { unsafe String(cString: $0) } ?? "",
      payload.map { unsafe String(cString: $0) } ?? ""
    )
  }

  /// Returns what is needed to cancel the running statement after this connection is gone.
  func makeCanceller() -> Canceller? {
    unsafe PQgetCancel(handle).map { unsafe Canceller(owning: $0) }
  }
}

/// Asks the server to cancel the statement that a connection is running.
@safe final class Canceller: @unchecked Sendable {
  // Unchecked: a PGcancel never changes, and libpq allows its use on any thread.
  private let handle: OpaquePointer

  init(owning handle: OpaquePointer) {
    unsafe self.handle = handle
  }

  deinit {
    unsafe PQfreeCancel(handle)
  }

  /// Sends the cancel request on a new thread, because libpq 15 can only send it blocking.
  ///
  /// The outcome is not checked: the caller drops the connection anyway.
  func cancelInBackground() {
    let thread = WorkerThread(named: "postgres-cancel") {
      var reason: [CChar] = Array(repeating: 0, count: 256)
      let size = Int32(reason.count)
      _ = unsafe reason.withUnsafeMutableBufferPointer {
        unsafe PQcancel(self.handle, $0.baseAddress, size)
      }
    }
    thread?.detach()
  }
}

/// A list of strings in C's form: one block of bytes and an array of pointers into it.
struct CStrings {
  private var bytes: [UInt8] = []
  private var offsets: [Int?] = []

  init(_ strings: [String?]) {
    bytes.reserveCapacity(strings.reduce(0) { $0 + ($1?.utf8.count ?? 0) + 1 })
    offsets.reserveCapacity(strings.count)
    for string in strings {
      offsets.append(string == nil ? nil : bytes.count)
      guard let string else { continue }
      bytes.append(contentsOf: string.utf8)
      bytes.append(0)
    }
  }

  /// Calls `body` with the pointers: NULL for each nil, and one more NULL at the end.
  func withPointers<R>(_ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> R) -> R {
    unsafe bytes.withUnsafeBytes { block in
      let start = unsafe block.assumingMemoryBound(to: CChar.self).baseAddress
      var pointers = unsafe offsets.map { offset in
        unsafe offset.flatMap { offset in unsafe start.map { unsafe $0 + offset } }
      }
      unsafe pointers.append(nil)
      return unsafe pointers.withUnsafeBufferPointer { unsafe body($0.baseAddress) }
    }
  }
}
