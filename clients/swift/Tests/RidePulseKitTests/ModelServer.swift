@testable import RidePulseKit

/// What `ridepulse serve` keeps of a phone: the rules of sql/0011_registration.sql and sql/0013_sign_out.sql.
struct ModelServer {
  struct Row: Hashable {
    var owner: String
    var installation: String?
    var disabled: String?
  }
  /// An app and a token, a type and a token, or a card.
  struct Key: Hashable { let name: String, token: String }

  var phones: [Key: Row] = [:]
  var starts: [Key: Row] = [:]
  var cards: [String: (row: Row, token: String)] = [:]
  /// The persons for whom the backend registers nothing.
  var refused: Set<String> = []
  private var done: Set<String> = []

  /// Takes a call, once for each Idempotency-Key, and returns the status.
  mutating func receive(_ call: Call) -> Int {
    if call.method == "POST", refused.contains(call.owner) { return 403 }
    if done.insert(call.key).inserted { take(call) }
    return 200
  }

  private mutating func take(_ call: Call) {
    let address = call.path.split(separator: "?").map(String.init)
    let parts = address[0].split(separator: "/").map(String.init)
    switch (call.method, parts.dropFirst().first) {
    case ("POST", "devices"): register(phone: call)
    case ("POST", "push-to-start"):
      let (owner, installation) = (call.text("owner_id"), call.text("installation_id"))
      let key = Key(name: call.text("attributes_type"), token: call.text("token"))
      if starts[key]?.disabled == "signed_out", !isSignedIn(owner, installation) { return }
      starts[key] = Row(owner: owner, installation: installation, disabled: nil)
    case ("POST", "live-activities"):
      let (owner, installation) = (call.text("owner_id"), call.text("installation_id"))
      let old = cards[call.text("activity_id")]?.row
      let stays =
        old?.disabled == "dismissed"
        || old?.disabled == "signed_out"
          && !(old?.owner == owner && isSignedIn(owner, installation))
      cards[call.text("activity_id")] = (
        Row(owner: owner, installation: installation, disabled: stays ? old?.disabled : nil),
        call.text("token")
      )
    case ("DELETE", "devices"): signOut(Key(name: parts[2], token: parts[3]))
    case ("DELETE", "push-to-start"):
      for key in starts.keys where key.token == parts[3] && starts[key]?.disabled == nil {
        starts[key]?.disabled = "withdrawn"
      }
    case ("DELETE", "live-activities"):
      let query = address.last?.split(separator: "&").map(String.init) ?? []
      guard let row = cards[parts[3]]?.row, query.contains("owner_id=\(row.owner)") else { return }
      let reason = query.contains("reason=signed_out") ? "signed_out" : "dismissed"
      if row.disabled == nil { cards[parts[3]]?.row.disabled = reason }
    default: break
    }
  }

  private func isSignedIn(_ owner: String, _ installation: String) -> Bool {
    phones.contains {
      $0.key.name == "customer" && $0.value.owner == owner && $0.value.disabled == nil
        && $0.value.installation == installation
    }
  }

  private mutating func register(phone call: Call) {
    let key = Key(name: call.text("app"), token: call.text("token"))
    let old = phones[key]
    let installation = call.body?["installation_id"] == nil ? nil : call.text("installation_id")
    let new = Row(owner: call.text("owner_id"), installation: installation ?? old?.installation)
    phones[key] = new
    if old == new { return }
    if let old, old.owner != new.owner { withdraw(key.name, old.owner, new.installation) }
    guard let named = new.installation else { return }
    let rows =
      phones.filter { $0.key.name == key.name }.values
      + (key.name == "customer" ? cards.values.map(\.row) + starts.values : [])
    for row in rows where row.installation == named && row.disabled == nil && row.owner != new.owner
    {
      withdraw(key.name, row.owner, named)
    }
    for other in phones.keys
    where other.name == key.name && other != key && phones[other]?.installation == named
      && phones[other]?.disabled == nil
    {
      phones[other]?.disabled = "replaced"
    }
  }

  private mutating func withdraw(_ app: String, _ owner: String, _ installation: String?) {
    guard app == "customer" else { return }
    for (id, card) in cards where card.row.owner == owner && card.row.disabled == nil {
      if card.row.installation == installation { cards[id]?.row.disabled = "signed_out" }
    }
    for (key, row) in starts where row.owner == owner && row.disabled == nil {
      if row.installation == installation { starts[key]?.disabled = "signed_out" }
    }
  }

  private mutating func signOut(_ key: Key) {
    guard let phone = phones[key], phone.disabled != "signed_out" else { return }
    phones[key]?.disabled = "signed_out"
    for (other, row) in phones
    where other.name == key.name && row.owner == phone.owner && row.disabled == nil
      && row.installation != nil && row.installation == phone.installation
    {
      phones[other]?.disabled = "signed_out"
    }
    withdraw(key.name, phone.owner, phone.installation)
  }

  /// Returns what is enabled, in lines.
  var enabled: Set<String> {
    var lines: Set<String> = []
    for (key, row) in phones where row.disabled == nil {
      lines.insert("phone \(key.name) \(key.token) of \(row.owner)")
    }
    for (key, row) in starts where row.disabled == nil {
      lines.insert("start \(key.name) \(key.token) of \(row.owner)")
    }
    for (id, card) in cards where card.row.disabled == nil {
      lines.insert("card \(id) \(card.token) of \(card.row.owner)")
    }
    return lines
  }
}

extension Call {
  fileprivate func text(_ name: String) -> String {
    if case .text(let text)? = body?[name] { text } else { "" }
  }
}
