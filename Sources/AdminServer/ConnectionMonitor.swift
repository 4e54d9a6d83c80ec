internal import CMicrohttpd
internal import Dispatch
internal import Glibc
internal import Synchronization
internal import SystemSupport

/// Applies the connection table to libmicrohttpd's connections.
///
/// libmicrohttpd itself limits only how long a connection is idle: a client that sends a byte now
/// and then would keep its place forever.
final class ConnectionMonitor: Sendable {
  private struct State {
    var table: ConnectionTable
    var sockets: [Int: Int32] = [:]
    var isSweeping = false
    var isOver = false
  }

  private let state: Mutex<State>

  init(_ limits: ConnectionTable.Limits) {
    state = Mutex(State(table: ConnectionTable(limits)))
  }

  /// The callback that libmicrohttpd runs when a connection has opened, and right before it closes
  /// the socket.
  static let notify: MHD_NotifyConnectionCallback = { context, connection, _, kind in
    guard let context = unsafe context, let connection = unsafe connection else { return }
    let server = unsafe Unmanaged<HTTPServer.Context>.fromOpaque(context).takeUnretainedValue()
    if ridepulse_mhd_has_come(kind) {
      unsafe server.connections.open(connection)
    } else {
      unsafe server.connections.close(connection)
    }
  }

  private func open(_ connection: OpaquePointer) {
    let socket = unsafe ridepulse_mhd_socket(connection)
    let (id, network) = unsafe (Self.id(connection), PeerNetwork(ofSocket: socket))
    state.withLock { state in
      state.sockets[id] = socket
      Self.end(state.table.open(id, from: network, now: .now), &state)
      if !state.isSweeping {
        state.isSweeping = true
        sweepLater()
      }
    }
  }

  private func close(_ connection: OpaquePointer) {
    let id = unsafe Self.id(connection)
    state.withLock { state in
      state.table.close(id)
      state.sockets[id] = nil
    }
  }

  /// Records that a request is complete; returns false if it is refused for now.
  func begin(_ connection: OpaquePointer, isVital: Bool) -> Bool {
    let id = unsafe Self.id(connection)
    return state.withLock { $0.table.begin(id, isVital: isVital) }
  }

  /// Records that the answer is being sent to the client.
  func answer(_ connection: OpaquePointer, isStream: Bool) {
    let id = unsafe Self.id(connection)
    state.withLock { $0.table.answer(id, isStream: isStream, now: .now) }
  }

  /// Records that the client has received the answer.
  func finish(_ connection: OpaquePointer) {
    let id = unsafe Self.id(connection)
    state.withLock { $0.table.finish(id, now: .now) }
  }

  /// Stops the periodic check of deadlines.
  func stop() {
    state.withLock { $0.isOver = true }
  }

  private func sweepLater() {
    DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(1)) { [self] in
      state.withLock { state in
        Self.end(state.table.expire(now: .now), &state)
        state.isSweeping = !state.table.isEmpty && !state.isOver
        if state.isSweeping { sweepLater() }
      }
    }
  }

  /// Shuts down the sockets of connections.
  ///
  /// Each socket stays open until libmicrohttpd has noticed the shutdown, and the lock ensures that
  /// its number has not been reused for another connection.
  private static func end(_ ids: [Int], _ state: inout State) {
    for socket in ids.compactMap({ state.sockets[$0] }) { SocketShutdown.both.apply(to: socket) }
  }

  private static func id(_ connection: OpaquePointer) -> Int { Int(bitPattern: connection) }
}
