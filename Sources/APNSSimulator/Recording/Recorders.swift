import SimulatorKit

/// One file for each kind of request, so that a reader of one kind can ignore the others.
struct Recorders {
  let pushes: Recorder
  let broadcasts: Recorder
  /// Channel calls.
  let calls: Recorder
  let deliveries: Recorder

  init(_ state: StateDirectory) throws(FileError) {
    pushes = try Recorder(path: state.requestsPath)
    broadcasts = try Recorder(path: state.broadcastsPath)
    calls = try Recorder(path: state.channelRequestsPath)
    deliveries = try Recorder(path: state.deliveriesPath)
  }

  func of(_ kind: ChannelCall.Kind?) -> Recorder { kind == .broadcast ? broadcasts : calls }

  func flush() {
    pushes.flush()
    broadcasts.flush()
    calls.flush()
    deliveries.flush()
  }
}
