/// A share of cases, such as 1/50.
struct Share: Equatable, Sendable {
  let hits: Int
  let cases: Int

  private static let largest = 1_000_000

  /// Parses `HITS/CASES`.
  init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
    guard parts.count == 2, (1...Self.largest).contains(parts[1]),
      (1...parts[1]).contains(parts[0])
    else { return nil }
    (hits, cases) = (parts[0], parts[1])
  }

  func isHit(using generator: inout some RandomNumberGenerator) -> Bool {
    Int.random(in: 0..<cases, using: &generator) < hits
  }
}
