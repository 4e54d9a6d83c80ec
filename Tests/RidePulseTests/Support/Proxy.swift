import Foundation
import Synchronization
import TestSupport

/// A proxy between a service and Postgres that can stop forwarding without closing anything.
final class Proxy: Sendable {
  /// Selects connections.
  enum Whose { case all, listeners }

  private struct State {
    var passages: [Passage] = []
    var word: String?
  }

  /// The port on 127.0.0.1 that it listens on.
  let port: UInt16
  private let listener: Int32
  private let upstream: String
  private let state = Mutex(State())

  /// Creates a proxy to the server whose Unix socket is in a directory.
  init(to directory: String) throws {
    upstream = "\(directory)/.s.PGSQL.5432"
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let listener = listener
    let isBound = unsafe withUnsafeMutablePointer(to: &address) { address in
      unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        unsafe bind(listener, address, size) == 0 && listen(listener, 64) == 0
          && getsockname(listener, address, &size) == 0
      }
    }
    port = address.sin_port.bigEndian
    guard isBound else { throw TestFailure("no port for a proxy: errno \(errno)") }
    Thread { self.acceptAll() }.start()
  }

  /// Forwards nothing more, either way, on the connections now open; later ones are not affected.
  func swallow(_ whose: Whose) {
    for passage in state.withLock({ $0.passages }) { passage.swallow(whose) }
  }

  /// Forwards the next query that contains this word, and nothing from the server on its connection
  /// afterwards.
  func loseAnswer(to word: String) {
    state.withLock { $0.word = word }
  }

  /// Whether the response that was to be lost is lost.
  var hasLostAnswer: Bool { state.withLock { $0.word == nil } }

  func stop() {
    shutdown(listener, Int32(SHUT_RDWR))
    for passage in state.withLock({ $0.passages }) { passage.end() }
  }

  private func acceptAll() {
    while true {
      let client = accept(listener, nil, nil)
      guard client >= 0 else { break }
      guard let server = Self.connect(to: upstream) else {
        close(client)
        continue
      }
      let passage = Passage(client: client, server: server) { [weak self] in
        self?.losesAnswer(to: $0) ?? false
      }
      state.withLock { $0.passages.append(passage) }
      passage.start()
    }
    close(listener)
  }

  private func losesAnswer(to bytes: ArraySlice<UInt8>) -> Bool {
    state.withLock { state in
      guard let word = state.word, bytes.firstRange(of: word.utf8) != nil else { return false }
      state.word = nil
      return true
    }
  }

  private static func connect(to path: String) -> Int32? {
    let file = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
    let size = socklen_t(MemoryLayout<sockaddr_un>.size)
    let isConnected = unsafe withUnsafePointer(to: &address) { address in
      unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe Glibc.connect(file, $0, size) == 0
      }
    }
    if isConnected { return file }
    close(file)
    return nil
  }
}

/// A connection through the proxy.
private final class Passage: Sendable {
  private struct State {
    var isSilent = false
    var losesAnswers = false
    var listens = false
    var ended = 0
  }

  private let client: Int32
  private let server: Int32
  private let losesAnswer: @Sendable (ArraySlice<UInt8>) -> Bool
  private let state = Mutex(State())

  init(
    client: Int32, server: Int32, losesAnswer: @escaping @Sendable (ArraySlice<UInt8>) -> Bool
  ) {
    self.client = client
    self.server = server
    self.losesAnswer = losesAnswer
  }

  func start() {
    Thread { self.pass(from: self.client, to: self.server) }.start()
    Thread { self.pass(from: self.server, to: self.client) }.start()
  }

  func swallow(_ whose: Proxy.Whose) {
    state.withLock { state in
      if whose == .all || state.listens { state.isSilent = true }
    }
  }

  func end() {
    state.withLock { state in
      // The descriptor may be closed and reused by now.
      if state.ended == 2 { return }
      shutdown(client, Int32(SHUT_RDWR))
      shutdown(server, Int32(SHUT_RDWR))
    }
  }

  private func pass(from: Int32, to: Int32) {
    var buffer: [UInt8] = Array(repeating: 0, count: 65_536)
    while true {
      let count = unsafe read(from, &buffer, buffer.count)
      guard count > 0 else { break }
      let bytes = buffer[..<count]
      if from == client { look(at: bytes) }
      let isHeld = state.withLock { $0.isSilent || ($0.losesAnswers && from == server) }
      if !isHeld, !write(bytes, to: to) { break }
    }
    // If the connection is silent, its client does not notice the end of the server.
    let forwardsEnd = from == client || state.withLock { !$0.isSilent && !$0.losesAnswers }
    if forwardsEnd { end() }
    let isLast = state.withLock { state in
      state.ended += 1
      return state.ended == 2
    }
    if isLast {
      close(client)
      close(server)
    }
  }

  private func look(at bytes: ArraySlice<UInt8>) {
    let listens = bytes.firstRange(of: "LISTEN".utf8) != nil
    let loses = losesAnswer(bytes)
    state.withLock { state in
      if listens { state.listens = true }
      if loses { state.losesAnswers = true }
    }
  }

  private func write(_ bytes: ArraySlice<UInt8>, to file: Int32) -> Bool {
    var rest = bytes
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes {
        unsafe send(file, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }
}
