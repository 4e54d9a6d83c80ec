import AdminServer
import Base
import PostgresStore
import RideCore

extension DeliveryQuery {
  private static let names = ["after", "since", "limit"]

  /// Reads the query of `GET /v1/deliveries`.
  ///
  /// - Throws: `unknownField` or `invalidValue`.
  init(_ query: [String: String]) throws(APIError) {
    if let stray = query.keys.filter({ !Self.names.contains($0) }).min() {
      let near = suggestion(for: String(stray.prefix(100)), among: Self.names)
      throw APIError(
        .unknownField, "there is no such parameter\(near); known: after, since, limit",
        field: String(stray.prefix(60)))
    }
    self.init(start: try Self.start(query), limit: try Self.limit(query))
  }

  private static func limit(_ query: [String: String]) throws(APIError) -> Int {
    guard let text = query["limit"] else { return largestPage }
    guard let number = Int(text), (1...largestPage).contains(number) else {
      throw APIError(
        .invalidValue, "limit is not a number from 1 to \(largestPage)", field: "limit")
    }
    return number
  }

  private static func start(_ query: [String: String]) throws(APIError) -> Start {
    if let cursor = query["after"] {
      if query["since"] != nil {
        throw APIError(.invalidValue, "send after or since, not both", field: "since")
      }
      guard (1...200).contains(cursor.utf8.count), !cursor.utf8.contains(0) else {
        throw notACursor
      }
      return .after(cursor)
    }
    guard let text = query["since"] else { return .oldest }
    guard let time = CivilTime.instant(iso: text) else {
      throw APIError(
        .invalidValue, "since is not a time in ISO 8601, such as 2026-11-21T08:00:00Z",
        field: "since")
    }
    return .since(time)
  }

  static let notACursor = APIError(
    .invalidValue, "after is not a cursor; send the next of an earlier answer, unchanged",
    field: "after")

  static let lost = APIError(
    .cursorLost,
    "the cursor is of another server, or of commits that a failover has lost; begin again with "
      + "since=TIME, a while before the failover or the restore", field: "after")
}

extension DeliveryPage {
  var json: JSONValue {
    .object(["deliveries": .array(deliveries.map(\.json)), "next": .orNull(next)])
  }
}
