internal import CMicrohttpd
internal import SystemSupport

/// An HTTP server based on libmicrohttpd with one thread per connection: a handler that waits for
/// the database does not delay other connections.
@safe final class HTTPServer: Sendable {
  typealias Handler = @Sendable (HTTPRequest) async -> HTTPResponse

  /// The maximum size of a body in bytes; a larger one is refused with status 413.
  static let bodyLimit = 64 * 1024
  private static let timeoutSeconds: UInt32 = 30

  let port: UInt16
  private let context: Context
  // libmicrohttpd's handle; only `stop` releases it, and only once.
  nonisolated(unsafe) private let daemon: OpaquePointer

  /// Starts to listen.
  ///
  /// - Throws: `ListenError`, also if the process may not create more threads or files.
  init(
    _ address: ListenAddress, limits: ConnectionTable.Limits = .init(),
    handler: @escaping Handler
  ) throws(ListenError) {
    let socket = try ListeningSocket(address)
    port = socket.port
    context = Context(handler: handler, limits: limits)
    // libmicrohttpd takes a moment to close the connections that `ConnectionMonitor` has shut down,
    // and refuses new ones beyond its limit.
    let connectionLimit = UInt32(limits.places + 64)
    let daemon = unsafe ridepulse_mhd_start(
      socket.descriptor, HTTPExchange.answer, HTTPExchange.completed, ConnectionMonitor.notify,
      Unmanaged.passUnretained(context).toOpaque(), connectionLimit, Self.timeoutSeconds)
    guard let daemon = unsafe daemon else {
      socket.close()
      throw ListenError(description: "can't serve on \(address): no thread or file is left")
    }
    unsafe self.daemon = daemon
  }

  /// Stops accepting requests and waits for the answers to those in progress.
  func stop() {
    unsafe MHD_stop_daemon(daemon)
    context.connections.stop()
  }

  /// The state shared by the callbacks of all connections; the server outlives them.
  final class Context: Sendable {
    let handler: Handler
    let connections: ConnectionMonitor

    init(handler: @escaping Handler, limits: ConnectionTable.Limits) {
      self.handler = handler
      connections = ConnectionMonitor(limits)
    }
  }
}
