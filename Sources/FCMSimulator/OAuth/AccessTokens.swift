import SimulatorKit

/// The access tokens that were issued and may still be sent.
struct AccessTokens {
  private struct Grant {
    let project: String
    var expiresAt: Int
  }

  enum State: Equatable {
    case unknown
    case expired
    case valid(project: String)
  }

  let lifeSeconds: Int
  private var grants: [String: Grant] = [:]

  init(lifeSeconds: Int) {
    self.lifeSeconds = lifeSeconds
  }

  mutating func issue(for project: String, at now: Int) -> String {
    // A day later no client may still send one.
    if grants.count > 10_000 { grants = grants.filter { $0.value.expiresAt > now - 86_400 } }
    let token = "ya29.sim." + RandomText.hex(digits: 32)
    grants[token] = Grant(project: project, expiresAt: now + lifeSeconds)
    return token
  }

  mutating func expireAll(at now: Int) {
    for token in grants.keys { grants[token]?.expiresAt = now }
  }

  func state(of token: String, at now: Int) -> State {
    guard let grant = grants[token] else { return .unknown }
    return grant.expiresAt > now ? .valid(project: grant.project) : .expired
  }
}

enum RandomText {
  static func hex(digits: Int) -> String {
    let bytes = (0..<digits).map { _ in [UInt8].hexDigits[Int.random(in: 0..<16)] }
    return String(decoding: bytes, as: UTF8.self)
  }
}
