internal import SystemSupport

/// The connections of the HTTP server: their state, their deadlines, and which one is closed when
/// there are too many.
///
/// A connection that waits for its client can be closed; one that has a request in progress cannot.
/// Requests in progress never fill the table, so a new connection always finds a place, even if
/// clients hold connections open.
struct ConnectionTable {
  typealias Instant = ContinuousClock.Instant

  /// Limits on the number of connections and on their times.
  struct Limits {
    var connections = 192
    /// Connections from one network that wait for their client.
    var waitingPerNetwork = 64
    /// Requests in progress at one time, including streams.
    var busy = 96
    var busyPerNetwork = 64
    /// From the opening of a connection to the last byte of its first request.
    var request: Duration = .seconds(10)
    /// From the end of an answer to the end of the next request.
    var nextRequest: Duration = .seconds(30)
    /// For the client to receive an answer.
    var answer: Duration = .seconds(60)
  }

  private enum Phase: Equatable {
    /// No complete request has arrived.
    case waiting(until: Instant)
    case handling
    case answering(until: Instant)
    /// The answer is a stream without an end.
    case streaming
    case closing
  }

  private struct Entry {
    var network: PeerNetwork
    var order: Int
    var phase: Phase

    var isWaiting: Bool { if case .waiting = phase { true } else { false } }

    var isBusy: Bool {
      switch phase {
      case .handling, .answering, .streaming: true
      case .waiting, .closing: false
      }
    }

    var deadline: Instant? {
      switch phase {
      case .waiting(let until), .answering(let until): until
      case .handling, .streaming, .closing: nil
      }
    }
  }

  private var entries: [Int: Entry] = [:]
  private var count = 0
  private let limits: Limits

  init(_ limits: Limits = Limits()) {
    self.limits = limits
  }

  var isEmpty: Bool { entries.isEmpty }

  /// Adds a connection; returns the connections to close in return.
  mutating func open(_ id: Int, from network: PeerNetwork, now: Instant) -> [Int] {
    var surplus: [Int] = []
    if let own = waiting(of: network), own.count >= limits.waitingPerNetwork {
      surplus += own.prefix(1)
    } else if entries.values.count(where: { $0.phase != .closing }) >= limits.connections {
      surplus += oldestOfLargest
    }
    for id in surplus { entries[id]?.phase = .closing }
    count += 1
    entries[id] = Entry(
      network: network, order: count, phase: .waiting(until: now + limits.request))
    return surplus
  }

  /// Records that a request is complete; returns false if too many requests are in progress.
  ///
  /// - Parameter isVital: the request is accepted regardless of the limits.
  mutating func begin(_ id: Int, isVital: Bool) -> Bool {
    guard let entry = entries[id], entry.phase != .closing else { return false }
    let busy = entries.values.filter(\.isBusy)
    let mayBegin =
      isVital
      || busy.count < limits.busy
        && busy.count { $0.network == entry.network } < limits.busyPerNetwork
    if mayBegin { entries[id]?.phase = .handling }
    return mayBegin
  }

  /// Records that the answer is being sent to the client.
  mutating func answer(_ id: Int, isStream: Bool, now: Instant) {
    change(id, to: isStream ? .streaming : .answering(until: now + limits.answer))
  }

  /// Records that the client has received the answer; the connection then waits for its next
  /// request.
  mutating func finish(_ id: Int, now: Instant) {
    count += 1
    entries[id]?.order = count
    change(id, to: .waiting(until: now + limits.nextRequest))
  }

  mutating func close(_ id: Int) {
    entries[id] = nil
  }

  /// Returns the connections whose deadline has passed; the caller must close them.
  mutating func expire(now: Instant) -> [Int] {
    let late = entries.filter { $1.deadline.map { $0 <= now } ?? false }.map(\.key)
    for id in late { entries[id]?.phase = .closing }
    return late
  }

  private mutating func change(_ id: Int, to phase: Phase) {
    guard let old = entries[id]?.phase, old != .closing else { return }
    entries[id]?.phase = phase
  }

  /// Returns the connections of a network that wait for their client, oldest first; nil if there
  /// are none.
  private func waiting(of network: PeerNetwork) -> [Int]? { waitingByNetwork[network] }

  private var oldestOfLargest: ArraySlice<Int> {
    waitingByNetwork.values.max { $0.count < $1.count }?.prefix(1) ?? []
  }

  private var waitingByNetwork: [PeerNetwork: [Int]] {
    let waiting = entries.filter { $1.isWaiting }.sorted { $0.value.order < $1.value.order }
    return Dictionary(grouping: waiting, by: \.value.network).mapValues { $0.map(\.key) }
  }
}
