internal import SystemSupport

/// The connections of the HTTP server: what each is doing, until when it may, and which of them goes
/// when there are too many.
///
/// A place that waits for a client can be taken back, one that has a request to answer can't. Since
/// the latter never fill the table, a new connection always finds a place, whatever clients hold back.
struct ConnectionTable {
  typealias Instant = ContinuousClock.Instant

  /// How many connections there may be, and for how long.
  struct Limits {
    /// Connections in all.
    var places = 192
    /// Connections from one network that wait for their client.
    var waitingPerNetwork = 64
    /// Requests that are answered at once, streams included.
    var busy = 96
    /// The same from one network.
    var busyPerNetwork = 64
    /// From the first byte to the last one of a connection's first request.
    var request: Duration = .seconds(10)
    /// From the end of an answer to the end of the next request.
    var nextRequest: Duration = .seconds(30)
    /// For the client to take an answer.
    var answer: Duration = .seconds(60)
  }

  fileprivate enum Phase: Equatable {
    /// No request of the client's is complete.
    case waiting(until: Instant)
    /// A handler has the request.
    case handling
    /// The answer is on its way.
    case answering(until: Instant)
    /// The answer has no end.
    case streaming
    /// It was told to end.
    case closing
  }

  fileprivate struct Entry {
    var network: PeerNetwork
    var order: Int
    var phase: Phase
  }

  private var entries: [Int: Entry] = [:]
  private var count = 0
  private let limits: Limits

  init(_ limits: Limits = Limits()) {
    self.limits = limits
  }

  var isEmpty: Bool { entries.isEmpty }

  /// A connection has come; returns those that have to go for it.
  mutating func open(_ id: Int, from network: PeerNetwork, now: Instant) -> [Int] {
    var surplus: [Int] = []
    if let own = waiting(of: network), own.count >= limits.waitingPerNetwork {
      surplus += own.prefix(1)
    } else if entries.values.count(where: { $0.phase != .closing }) >= limits.places {
      surplus += oldestOfLargest
    }
    for id in surplus { entries[id]?.phase = .closing }
    count += 1
    entries[id] = Entry(
      network: network, order: count, phase: .waiting(until: now + limits.request))
    return surplus
  }

  /// A request is complete; false where it is not to be answered now, since too many are.
  ///
  /// - Parameter isVital: it is answered in any case, and at once.
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

  /// The answer goes to the client.
  mutating func answer(_ id: Int, isStream: Bool, now: Instant) {
    change(id, to: isStream ? .streaming : .answering(until: now + limits.answer))
  }

  /// The client has the answer; the connection stays for the next request.
  mutating func finish(_ id: Int, now: Instant) {
    count += 1
    entries[id]?.order = count
    change(id, to: .waiting(until: now + limits.nextRequest))
  }

  /// The connection is gone.
  mutating func close(_ id: Int) {
    entries[id] = nil
  }

  /// Those whose time is over; they have to go.
  mutating func expire(now: Instant) -> [Int] {
    let late = entries.filter { $1.deadline.map { $0 <= now } ?? false }.map(\.key)
    for id in late { entries[id]?.phase = .closing }
    return late
  }

  private mutating func change(_ id: Int, to phase: Phase) {
    guard let old = entries[id]?.phase, old != .closing else { return }
    entries[id]?.phase = phase
  }

  /// Connections of a network that wait for their client, the oldest first; nil for none.
  private func waiting(of network: PeerNetwork) -> [Int]? { waitingByNetwork[network] }

  private var oldestOfLargest: ArraySlice<Int> {
    waitingByNetwork.values.max { $0.count < $1.count }?.prefix(1) ?? []
  }

  private var waitingByNetwork: [PeerNetwork: [Int]] {
    let waiting = entries.filter { $1.isWaiting }.sorted { $0.value.order < $1.value.order }
    return Dictionary(grouping: waiting, by: \.value.network).mapValues { $0.map(\.key) }
  }
}

extension ConnectionTable.Entry {
  fileprivate var isWaiting: Bool { if case .waiting = phase { true } else { false } }

  fileprivate var isBusy: Bool {
    switch phase {
    case .handling, .answering, .streaming: true
    case .waiting, .closing: false
    }
  }

  fileprivate var deadline: ContinuousClock.Instant? {
    switch phase {
    case .waiting(let until), .answering(let until): until
    case .handling, .streaming, .closing: nil
    }
  }
}
