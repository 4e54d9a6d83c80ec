import CNghttp2
import Glibc

/// Why a request has no answer.
package struct ClientError: Error, Equatable, CustomStringConvertible {
  package let description: String
}

/// A connection to a simulator on this machine: one request at a time, and the thread waits for the
/// answer.
///
/// After an error, or if it `isOver`, the caller opens another connection.
@safe package final class HTTP2Client {
  private static let patienceSeconds = 10
  private static let bufferBytes = 16_384

  private let tls: TLSStream
  private let exchange = ClientExchange()
  private let session: OpaquePointer
  private let buffer: UnsafeMutableRawBufferPointer

  /// Connects, and verifies that the server has a certificate of the authority.
  package init(port: UInt16, authorityPath: String) throws {
    // A server that vanishes must cause an error, not the end of the process.
    signal(SIGPIPE, SIG_IGN)
    let context = try TLSContext(authorityPath: authorityPath)
    tls = try TLSStream(socket: Self.connect(to: port), context: context)
    guard let session = unsafe ClientCallbacks.session(for: exchange) else {
      throw ClientError(description: "no memory")
    }
    unsafe self.session = session
    unsafe buffer = .allocate(byteCount: Self.bufferBytes, alignment: 16)
    unsafe nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil, 0)
    try flush()
  }

  deinit {
    unsafe nghttp2_session_del(session)
    unsafe buffer.deallocate()
  }

  /// Whether the server has announced that it accepts no further request.
  package var isOver: Bool { exchange.receivedGoAway }

  package func send(_ request: Request) throws(ClientError) -> Answer {
    exchange.begin(body: request.body)
    var block = HeaderBlock()
    for header in request.headers { block.append(header.name, header.value) }
    unsafe block.withFields { fields in
      var provider = unsafe nghttp2_data_provider()
      unsafe provider.read_callback = unsafe readRequestBody
      let stream =
        request.body.isEmpty
        ? unsafe nghttp2_submit_request(session, nil, fields.baseAddress, fields.count, nil, nil)
        : unsafe nghttp2_submit_request(
          session, nil, fields.baseAddress, fields.count, &provider, nil)
      exchange.stream = stream
      return stream
    }
    guard exchange.stream > 0 else { throw Self.error(exchange.stream) }
    while exchange.outcome == nil {
      try flush()
      if exchange.outcome == nil { try receive() }
    }
    return try exchange.answer()
  }

  private func flush() throws(ClientError) {
    while true {
      var start: UnsafePointer<UInt8>?
      let count = unsafe nghttp2_session_mem_send(session, &start)
      guard count >= 0 else { throw Self.error(Int32(count)) }
      if count == 0 { return }
      var sent = 0
      while sent < count {
        let rest = unsafe UnsafeRawBufferPointer(start: start, count: count).dropFirst(sent)
        sent += try Self.count(unsafe tls.write(UnsafeRawBufferPointer(rebasing: rest)))
      }
    }
  }

  private func receive() throws(ClientError) {
    let count = try Self.count(unsafe tls.read(into: buffer))
    let start = unsafe buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
    let result = unsafe nghttp2_session_mem_recv(session, start, count)
    guard result >= 0 else { throw Self.error(Int32(result)) }
  }

  private static func count(_ outcome: TLSStream.Outcome) throws(ClientError) -> Int {
    switch outcome {
    case .bytes(let count): return count
    case .wantsRead, .wantsWrite:
      throw ClientError(description: "nothing received for \(patienceSeconds) s")
    case .ended: throw ClientError(description: "the connection was closed")
    case .broken(let reason), .failed(let reason): throw ClientError(description: reason)
    }
  }

  private static func error(_ code: Int32) -> ClientError {
    unsafe ClientError(description: "HTTP/2: " + String(cString: nghttp2_strerror(code)))
  }

  private static func connect(to port: UInt16) throws(FileError) -> Int32 {
    let endpoint = "127.0.0.1:\(port)"
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    let socket = Glibc.socket(AF_INET, kind, 0)
    guard socket >= 0 else { throw FileError("socket", endpoint) }
    var patience = timeval(tv_sec: patienceSeconds, tv_usec: 0)
    let size = socklen_t(MemoryLayout<timeval>.size)
    unsafe setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, size)
    unsafe setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &patience, size)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
    let length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let status = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
        unsafe Glibc.connect(socket, generic, length)
      }
    }
    guard status == 0 else {
      let error = FileError("connect", endpoint)
      close(socket)
      throw error
    }
    return socket
  }
}
