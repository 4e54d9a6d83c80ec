import Foundation
import Glibc
import Synchronization
import TestSupport

/// A service manager's datagram socket, which records what it receives.
final class NotifySink {
  /// The value for `NOTIFY_SOCKET`.
  let name: String
  private let received = Received()
  private let source: any DispatchSourceRead

  /// - Parameter name: A path, or `@` and an abstract name.
  init(_ name: String) throws {
    self.name = name
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    var bytes = Array(name.utf8)
    if name.hasPrefix("@") { bytes[0] = 0 }
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
    let length = socklen_t(
      MemoryLayout<sa_family_t>.size + bytes.count + (name.hasPrefix("/") ? 1 : 0))
    let isBound = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(descriptor, $0, length) == 0
      }
    }
    guard isBound else { throw TestFailure("can't bind \(name): \(errno)") }
    source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: .global())
    let received = received
    source.setEventHandler { received.read(descriptor) }
    // Dispatch may still watch the descriptor when a source is cancelled: closed earlier, it crashes.
    source.setCancelHandler { _ = close(descriptor) }
    source.resume()
  }

  deinit { source.cancel() }

  /// The datagrams received so far.
  var datagrams: [String] { received.datagrams.withLock { $0 } }

  /// The first line of each datagram, with consecutive repeats removed.
  var words: [String] {
    datagrams.map { String($0.prefix { !$0.isNewline }) }
      .reduce(into: []) { if $0.last != $1 { $0.append($1) } }
  }

  /// Waits for a datagram that contains a text, after the first `count` ones.
  func receives(_ text: String, after count: Int = 0) async throws {
    try await wait(until: "\(text) arrives after the first \(count) of \(datagrams)") {
      datagrams.dropFirst(count).contains { $0.contains(text) }
    }
  }

  private final class Received: Sendable {
    let datagrams = Mutex<[String]>([])

    func read(_ descriptor: Int32) {
      var buffer = [UInt8](repeating: 0, count: 4096)
      let count = unsafe recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
      guard count > 0 else { return }
      datagrams.withLock { $0.append(String(decoding: buffer[..<count], as: UTF8.self)) }
    }
  }
}
