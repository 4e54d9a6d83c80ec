/// A person who is signed in, and what may have reached the server in this session.
struct Session: Codable, Hashable, Sendable {
  struct Phone: Codable, Hashable, Sendable {
    let app: String
    /// Tokens that were sent, since the last one that was confirmed.
    var tokens: [String]
    var isConfirmed = false
    /// Whether the backend refused the last one; it may have taken an earlier one that was not answered.
    var isRefused = false
  }

  let number: Int
  let owner: String
  var phones: [String: Phone] = [:]
  /// The last report of each card that was sent and has not ended.
  var cards: [String: CardReport] = [:]
  /// The tokens that were sent, by type.
  var starts: [String: [String]] = [:]

  /// Notes that a report leaves: from now on the server may have it.
  mutating func sent(_ report: Report) {
    switch report {
    case .phone(let phone):
      var known = phones[phone.lane] ?? Phone(app: phone.app, tokens: [])
      known.tokens.removeAll { $0 == phone.token }
      known.tokens.append(phone.token)
      known.isRefused = false
      phones[phone.lane] = known
    case .start(let type, let token):
      if starts[type]?.contains(token) != true { starts[type, default: []].append(token) }
    case .card(let card): cards[card.activityID] = card
    default: break
    }
  }

  /// Notes that the server has a report.
  mutating func confirmed(_ report: Report) {
    switch report {
    case .phone(let phone):
      phones[phone.lane] = Phone(app: phone.app, tokens: [phone.token], isConfirmed: true)
    case .withdrawStart(let type, let token): starts[type]?.removeAll { $0 == token }
    case .withdrawPhone(_, _, let lane): phones[lane] = nil
    case .endCard(let id): cards[id] = nil
    default: break
    }
  }

  /// Notes that the backend does not take a report: nothing follows it by itself.
  mutating func refused(_ report: Report) {
    switch report {
    case .phone, .withdrawPhone: phones[report.lane]?.isRefused = true
    default: break
    }
  }

  /// Returns what withdraws all that the server may have, with the lane of each.
  ///
  /// A phone that the server knows takes its cards and start tokens with it; otherwise each is withdrawn.
  func farewells(app: String) -> [(report: Report, lane: String)] {
    let main = "phone \(app)"
    var reports: [(report: Report, lane: String)] = []
    if phones[main]?.isConfirmed != true {
      reports += cards.keys.sorted().map { (.withdrawCard($0), main) }
      for (type, tokens) in starts.sorted(by: { $0.key < $1.key }) {
        reports += tokens.map { (.withdrawStart(type: type, token: $0), main) }
      }
    }
    for (lane, phone) in phones.sorted(by: { $0.key < $1.key }) {
      reports += phone.tokens.map { (.withdrawPhone(app: phone.app, token: $0, lane: lane), lane) }
    }
    return reports
  }
}
