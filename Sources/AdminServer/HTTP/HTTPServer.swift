internal import CMicrohttpd
internal import Glibc

/// An HTTP server by libmicrohttpd, with a thread of its own for each connection: a handler that
/// waits for the database holds up nobody else.
@safe final class HTTPServer: Sendable {
  typealias Handler = @Sendable (HTTPRequest) async -> HTTPResponse

  /// A body beyond this is refused with 413.
  static let bodyLimit = 64 * 1024
  private static let timeoutSeconds: UInt32 = 30

  let port: UInt16
  private let context: Context
  // libmicrohttpd's handle, which only `stop` gives up, once.
  nonisolated(unsafe) private let daemon: OpaquePointer

  /// Listens from now on.
  ///
  /// - Throws: `ListenError`, also where the process may have no more threads or files.
  init(
    _ address: ListenAddress, limits: ConnectionTable.Limits = .init(),
    handler: @escaping Handler
  ) throws(ListenError) {
    let socket = try ListenSocket(address)
    port = socket.port
    context = Context(handler: handler, limits: limits)
    // libmicrohttpd takes a moment to close what the keeper has ended, and refuses beyond its limit.
    let connectionLimit = UInt32(limits.places + 64)
    let daemon = unsafe ridepulse_mhd_start(
      socket.descriptor, HTTPExchange.answer, HTTPExchange.completed, ConnectionMonitor.notify,
      Unmanaged.passUnretained(context).toOpaque(), connectionLimit, Self.timeoutSeconds)
    guard let daemon = unsafe daemon else {
      close(socket.descriptor)
      throw ListenError(description: "can't serve on \(address): no thread or file is left")
    }
    unsafe self.daemon = daemon
  }

  /// Takes no more requests, and waits for the answers to those that came.
  func stop() {
    unsafe MHD_stop_daemon(daemon)
    context.connections.stop()
  }

  /// What the callbacks of all connections share; the server outlives them.
  final class Context: Sendable {
    let handler: Handler
    let connections: ConnectionMonitor

    init(handler: @escaping Handler, limits: ConnectionTable.Limits) {
      self.handler = handler
      connections = ConnectionMonitor(limits)
    }
  }
}
