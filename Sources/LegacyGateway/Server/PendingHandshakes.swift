internal import SystemSupport

/// The connections with an incomplete handshake, in order of arrival, and which to evict if there
/// are too many.
///
/// Any host can begin a handshake, so incomplete ones never block other connections: the oldest one
/// of the network that has the most is evicted.
struct PendingHandshakes {
  private var networks: [Int: PeerNetwork] = [:]
  /// By network, in order of arrival.
  private var numbers: [PeerNetwork: [Int]] = [:]
  private let limit: Int
  private let limitPerNetwork: Int

  /// - Parameters:
  ///   - limit: The maximum in total.
  ///   - limitPerNetwork: The maximum from one network.
  init(limit: Int, limitPerNetwork: Int) {
    self.limit = max(1, limit)
    self.limitPerNetwork = max(1, limitPerNetwork)
  }

  var count: Int { networks.count }

  /// Adds a connection; numbers must increase.
  mutating func add(_ number: Int, from network: PeerNetwork) {
    networks[number] = network
    numbers[network, default: []].append(number)
  }

  /// Removes a connection whose handshake is complete or that is closed.
  mutating func remove(_ number: Int) {
    guard let network = networks.removeValue(forKey: number) else { return }
    numbers[network]?.removeAll { $0 == number }
    if numbers[network]?.isEmpty == true { numbers[network] = nil }
  }

  /// Returns the connection to evict before a network adds one more; nil if there is room.
  func surplus(before network: PeerNetwork) -> Int? {
    if let own = numbers[network], own.count >= limitPerNetwork { return own.first }
    return count >= limit ? oldestOfLargest : nil
  }

  /// The oldest connection of the network that has the most; of several such networks, the one that
  /// came first.
  var oldestOfLargest: Int? {
    numbers.values.max { ($0.count, $1.first ?? 0) < ($1.count, $0.first ?? 0) }?.first
  }
}
