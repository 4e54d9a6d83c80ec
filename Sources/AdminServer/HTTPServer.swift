internal import CMicrohttpd
internal import Dispatch
internal import Glibc
internal import Synchronization
internal import SystemSupport

/// An HTTP server based on libmicrohttpd with one thread per connection: a handler that waits for
/// the database does not delay other connections.
@safe final class HTTPServer: Sendable {
  typealias Handler = @Sendable (HTTPRequest) async -> HTTPResponse

  /// The maximum size of a body in bytes; a larger one is refused with status 413.
  fileprivate static let bodyLimit = 64 * 1024
  private static let timeoutSeconds: UInt32 = 30

  let port: UInt16
  private let context: Context
  // libmicrohttpd's handle; only `stop` releases it, and only once.
  nonisolated(unsafe) private let daemon: OpaquePointer

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
    let connectionLimit = UInt32(limits.connections + 64)
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

/// One request while it is received and answered.
final class HTTPExchange {
  private var body: [UInt8] = []
  private var isTooLarge = false

  /// libmicrohttpd calls this first with the header, then with each part of the body, then without
  /// data.
  static let answer: MHD_AccessHandlerCallback = {
    context, connection, path, method, _, data, size, state in
    guard let context = unsafe context, let connection = unsafe connection,
      let state = unsafe state, let size = unsafe size
    else { return .NO }
    guard let known = unsafe state.pointee else {
      unsafe state.pointee = Unmanaged.passRetained(HTTPExchange()).toOpaque()
      return .YES
    }
    let exchange = unsafe Unmanaged<HTTPExchange>.fromOpaque(known).takeUnretainedValue()
    let count = unsafe size.pointee
    if count > 0 {
      unsafe exchange.take(UnsafeRawBufferPointer(start: data, count: count))
      unsafe size.pointee = 0
      return .YES
    }
    let server = unsafe Unmanaged<HTTPServer.Context>.fromOpaque(context).takeUnretainedValue()
    guard let path = unsafe path, let method = unsafe method else { return .NO }
    let query = unsafe values(of: connection, .GET_ARGUMENT_KIND)
    let headers = unsafe values(of: connection, .HEADER_KIND).map { ($0.0.lowercased(), $0.1) }
    var request = unsafe HTTPRequest(
      method: String(cString: method), path: String(cString: path), query: decoded(query),
      headers: Dictionary(headers) { $1 }, body: exchange.body)
    request.fault = fault(ofHeaders: headers.map(\.0))
    // A health check is answered even if other requests are refused.
    let isVital = AdminServer.vitalPaths.contains(request.path)
    let response =
      if unsafe server.connections.begin(connection, isVital: isVital) {
        exchange.response(to: request, by: server)
      } else {
        HTTPExchange.busy.inForm(of: request.path)
      }
    unsafe server.connections.answer(connection, isStream: response.events != nil)
    return unsafe send(response, connection)
  }

  private static let busy: HTTPResponse = {
    var response = HTTPResponse.text(
      503, "too many requests are in progress; nothing was done, repeat this one later")
    response.headers["Retry-After"] = "1"
    return response
  }()

  /// libmicrohttpd calls this when a request is finished, whether it succeeded or failed.
  static let completed: MHD_RequestCompletedCallback = { context, connection, state, _ in
    if let context = unsafe context, let connection = unsafe connection {
      let server = unsafe Unmanaged<HTTPServer.Context>.fromOpaque(context).takeUnretainedValue()
      unsafe server.connections.finish(connection)
    }
    guard let state = unsafe state, let known = unsafe state.pointee else { return }
    unsafe Unmanaged<HTTPExchange>.fromOpaque(known).release()
    unsafe state.pointee = nil
  }

  private func take(_ data: UnsafeRawBufferPointer) {
    if body.count + data.count > HTTPServer.bodyLimit { isTooLarge = true }
    if !isTooLarge { unsafe body.append(contentsOf: data) }
  }

  /// Waits on the connection's own thread until the handler returns a response.
  private func response(to request: HTTPRequest, by server: HTTPServer.Context) -> HTTPResponse {
    if isTooLarge {
      return .text(413, "the body is larger than \(HTTPServer.bodyLimit) bytes")
        .inForm(of: request.path)
    }
    let answer = Answer()
    Task {
      let response = await server.handler(request)
      answer.response.withLock { $0 = response }
      answer.isThere.signal()
    }
    answer.isThere.wait()
    return answer.response.withLock { $0 } ?? .text(500, "no answer")
  }

  private final class Answer: Sendable {
    let isThere = DispatchSemaphore(value: 0)
    let response = Mutex<HTTPResponse?>(nil)
  }

  private static func send(_ answer: HTTPResponse, _ connection: OpaquePointer) -> MHD_Result {
    let response =
      if let listener = answer.events { unsafe EventStream.response(listener) } else {
        unsafe whole(answer.body)
      }
    guard let response = unsafe response else { return .NO }
    defer { unsafe MHD_destroy_response(response) }
    let fields = [
      "Content-Type": answer.contentType, "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
      // This policy applies to API responses; the page sets its own.
      "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    ].merging(answer.headers) { $1 }
    for (name, value) in fields { unsafe MHD_add_response_header(response, name, value) }
    return unsafe MHD_queue_response(connection, UInt32(answer.status), response)
  }

  private static func whole(_ body: [UInt8]) -> OpaquePointer? {
    unsafe body.withUnsafeBytes { bytes in
      // libmicrohttpd copies the buffer and does not write to it.
      unsafe MHD_create_response_from_buffer(
        bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress), .RESPMEM_MUST_COPY)
    }
  }

  /// Returns why the length of a body is not known: a proxy may read another one.
  private static func fault(ofHeaders names: [String]) -> APIError? {
    let lengths = names.count { $0 == "content-length" }
    if lengths > 1 {
      return APIError(.invalidRequest, "Content-Length is there \(lengths) times")
    }
    if lengths == 1, names.contains("transfer-encoding") {
      return APIError(
        .invalidRequest, "Content-Length and Transfer-Encoding are both there")
    }
    return nil
  }

  /// Decodes query parameters; one that is not UTF-8 with percent-encoding stays as it was sent.
  private static func decoded(_ values: [(String, String)]) -> [String: String] {
    func text(_ raw: String) -> String { PercentEncoding.decoded(raw.utf8) ?? raw }
    return Dictionary(values.map { (text($0), text($1)) }) { _, last in last }
  }

  private static func values(
    of connection: OpaquePointer, _ kind: MHD_ValueKind
  ) -> [(String, String)] {
    var values: [(String, String)] = []
    unsafe withUnsafeMutablePointer(to: &values) { pointer in
      unsafe _ = MHD_get_connection_values(
        connection, kind,
        { context, _, name, value in
          guard let name = unsafe name, let value = unsafe value, let context = unsafe context
          else { return .YES }
          let values = unsafe context.assumingMemoryBound(to: [(String, String)].self)
          unsafe values.pointee.append((String(cString: name), String(cString: value)))
          return .YES
        }, UnsafeMutableRawPointer(pointer))
    }
    return values
  }
}
