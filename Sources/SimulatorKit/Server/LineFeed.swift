import Glibc

/// Sends lines to every program that is connected to a port of this machine.
@safe package final class LineFeed {
  /// A receiver that leaves more bytes unread is disconnected.
  private static let longestBacklog = 4 << 20

  let listener: Listener
  /// The bytes that each receiver has not taken yet, by its socket.
  private var backlogs: [Int32: [UInt8]] = [:]
  /// The receivers with new bytes.
  private var dirty: Set<Int32> = []

  package var port: UInt16 { listener.port }

  package init(port: UInt16) throws {
    listener = try Listener(port: port)
  }

  deinit {
    for socket in backlogs.keys { close(socket) }
  }

  /// Adds a line for all who are connected now.
  package func append(_ json: JSON) {
    if backlogs.isEmpty { return }
    let line = json.serialized + [UInt8(ascii: "\n")]
    for socket in backlogs.keys { backlogs[socket]?.append(contentsOf: line) }
    dirty = Set(backlogs.keys)
  }

  /// Accepts all who wait, and returns their sockets.
  func accept() -> [Int32] {
    var accepted: [Int32] = []
    while case .socket(let socket) = listener.accept() {
      backlogs[socket] = []
      accepted.append(socket)
    }
    return accepted
  }

  /// Sends what the receivers accept; returns those that wait for room.
  func flush() -> [Int32] {
    if dirty.isEmpty { return [] }
    let sockets = dirty
    dirty.removeAll()
    return sockets.filter { send(to: $0) == .waits }
  }

  enum Progress { case done, waits, gone }

  /// Sends a receiver's backlog; one that has gone, or does not read, is closed.
  @discardableResult
  func send(to socket: Int32) -> Progress {
    guard var bytes = backlogs[socket] else { return .gone }
    var sent = 0
    while sent < bytes.count {
      let count = unsafe bytes.withUnsafeBytes { all in
        let rest = unsafe UnsafeRawBufferPointer(rebasing: all[sent...])
        return unsafe Glibc.send(socket, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
      }
      if count < 0, errno == EINTR { continue }
      if count < 0, errno == EAGAIN { break }
      if count <= 0 {
        drop(socket)
        return .gone
      }
      sent += count
    }
    bytes.removeFirst(sent)
    if bytes.count > Self.longestBacklog {
      Log.write("a receiver of the inbox does not read: it is disconnected")
      drop(socket)
      return .gone
    }
    backlogs[socket] = bytes
    return bytes.isEmpty ? .done : .waits
  }

  /// Closes a receiver; the poller forgets a closed socket by itself.
  func drop(_ socket: Int32) {
    if backlogs.removeValue(forKey: socket) != nil { close(socket) }
  }
}
