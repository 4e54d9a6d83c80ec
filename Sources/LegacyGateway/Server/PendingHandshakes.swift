internal import SystemSupport

/// The connections whose handshake is not finished, in the order in which they came, and which of
/// them goes when there are too many.
///
/// Anybody can begin a handshake, so unfinished ones never keep a place from others: the oldest one
/// goes, of the network that has the most.
struct PendingHandshakes {
  private var networks: [Int: PeerNetwork] = [:]
  /// By network, in the order of arrival.
  private var numbers: [PeerNetwork: [Int]] = [:]
  private let limit: Int
  private let limitPerNetwork: Int

  /// - Parameters:
  ///   - limit: how many there may be in all.
  ///   - limitPerNetwork: how many there may be from one network.
  init(limit: Int, limitPerNetwork: Int) {
    self.limit = max(1, limit)
    self.limitPerNetwork = max(1, limitPerNetwork)
  }

  var count: Int { networks.count }

  /// Adds a connection; its numbers rise.
  mutating func add(_ number: Int, from network: PeerNetwork) {
    networks[number] = network
    numbers[network, default: []].append(number)
  }

  /// The handshake is finished, or the connection is gone.
  mutating func remove(_ number: Int) {
    guard let network = networks.removeValue(forKey: number) else { return }
    numbers[network]?.removeAll { $0 == number }
    if numbers[network]?.isEmpty == true { numbers[network] = nil }
  }

  /// The connection that goes before one more comes from a network; nil while there is room.
  func surplus(before network: PeerNetwork) -> Int? {
    if let own = numbers[network], own.count >= limitPerNetwork { return own.first }
    return count >= limit ? oldestOfLargest : nil
  }

  /// The oldest one of the network that has the most; of several networks the one that came first.
  var oldestOfLargest: Int? {
    numbers.values.max { ($0.count, $1.first ?? 0) < ($1.count, $0.first ?? 0) }?.first
  }
}
