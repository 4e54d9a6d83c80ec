import AdminServer
import Base
import PostgresStore
import RideCore

/// What a person asks `explain` for instead of a ride.
struct SearchQuery {
  private enum Name: String, CaseIterable {
    case owner = "owner_id"
    case apnsID = "apns_id"
    case token

    var option: String {
      switch self {
      case .owner: "--owner"
      case .apnsID: "--apns-id"
      case .token: "--token"
      }
    }

    /// What a value has to be.
    var form: String {
      switch self {
      case .owner: "an owner ID of 1 to \(RideQueries.idLimit) bytes"
      case .apnsID: "an apns-id, such as 0c244c98-2cc0-81c0-9f50-cfc81cd45506"
      case .token: "the last 6 or more characters of a token"
      }
    }

    func key(_ text: String) -> SearchKey? {
      switch self {
      case .owner:
        (1...RideQueries.idLimit).contains(text.utf8.count) && !text.utf8.contains(0)
          ? .owner(OwnerID(text)) : nil
      case .apnsID: PushID(text).map { .push($0) }
      case .token: TokenSuffix(text).map { .token($0) }
      }
    }
  }

  let key: SearchKey

  /// Reads a command line; nil if it names a ride.
  ///
  /// - Throws: `UsageError` unless it has exactly one subject in the right form.
  init?(_ arguments: Arguments) throws(UsageError) {
    let given = Name.allCases.compactMap { name in
      arguments.value(name.option).map { (name: name, text: $0) }
    }
    let all = (["RIDE"] + Name.allCases.map(\.option)).joined(separator: ", ")
    if given.count + arguments.operands.count != 1 {
      throw arguments.error("give exactly one of \(all)")
    }
    guard let (name, text) = given.first else { return nil }
    guard let key = name.key(text) else {
      throw arguments.error("\(name.option) \(text) is not \(name.form)")
    }
    self.key = key
  }

  /// Reads the query of `GET /v1/explain`.
  ///
  /// - Throws: `unknownField`, `missingField` or `invalidValue`.
  init(_ query: [String: String]) throws(APIError) {
    let known = Name.allCases.map(\.rawValue)
    if let stray = query.keys.filter({ !known.contains($0) }).min() {
      let near = suggestion(for: String(stray.prefix(100)), among: known)
      throw APIError(
        .unknownField,
        "there is no such parameter\(near); known: \(known.joined(separator: ", "))",
        field: String(stray.prefix(60)))
    }
    guard query.count <= 1 else {
      throw APIError(.invalidValue, "send only one of \(known.joined(separator: ", "))")
    }
    guard let (word, text) = query.first, let name = Name(rawValue: word) else {
      throw APIError(.missingField, "send one of \(known.joined(separator: ", "))")
    }
    guard let key = name.key(text) else {
      throw APIError(.invalidValue, "\(word) is not \(name.form)", field: word)
    }
    self.key = key
  }

  /// What it means that nothing was found, and what to check.
  var absence: String {
    switch key {
    case .owner(let owner):
      "no phone, card, start token, contact or ride names an owner \(Escape.line(owner.text)). Check "
        + "the ID: it is the one in rides (customer_id, driver_id, attributes.<app>_id) and in "
        + "register_device. People who were erased and rows past \(Database.schema).retention are gone"
    case .push(let id):
      "no push has the apns-id \(id). The ledger keeps pushes for \(Database.schema).retention.ledger, 30 days "
        + "by default; a push of another sender or another database is not in it. If you know the "
        + "phone: ridepulse explain --token SUFFIX"
    case .token(let token):
      "no phone, card, start token or push has a token that ends in \(token.text.suffix(6)). Check "
        + "that the app has registered it, with this database; tokens and pushes past "
        + "\(Database.schema).retention are gone. If you know the person: ridepulse explain --owner ID"
    }
  }
}
