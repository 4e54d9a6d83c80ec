/// Parses JWTs and caches the results.
///
/// A client sends the same one with each push for most of an hour, and ECDSA costs more than
/// everything else that a push needs.
final class ProviderTokenReader {
  private static let capacity = 256

  private let key: SigningKey
  private var readings: [String: ProviderToken?] = [:]

  init(key: SigningKey) {
    self.key = key
  }

  func read(_ text: String) -> ProviderToken? {
    if let known = readings[text] { return known }
    let reading = ProviderToken.read(text, verifies: key.verifies)
    if readings.count == Self.capacity { readings.removeAll(keepingCapacity: true) }
    readings[text] = .some(reading)
    return reading
  }
}
