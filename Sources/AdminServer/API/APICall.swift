package import RideCore

/// A writing call of the API: what it takes is what the SQL function of its kind takes.
package struct APICall: Hashable, Sendable {
  /// What `ridepulse.answer` calls it, and the last part of its path.
  package let name: String
  /// What its body may hold.
  package let fields: [APIField]

  /// Where it is posted to.
  package var path: String { "/v1/\(name)" }

  /// `ridepulse.emit`.
  package static let events = APICall(
    name: "events",
    fields: [
      APIField("event", .word), APIField("ride_id", .word),
      APIField("data", .object, isRequired: false),
    ])

  /// `ridepulse.register_device`.
  package static let devices = APICall(
    name: "devices",
    fields: [
      APIField("app", .app), APIField("owner_id", .word), APIField("token", .token),
      APIField("environment", .environment, isRequired: false),
      APIField("installation_id", .word, isRequired: false),
      APIField("locale", .word, isRequired: false),
    ])

  /// `ridepulse.register_live_activity`.
  package static let liveActivities = APICall(
    name: "live-activities",
    fields: [
      APIField("ride_id", .word), APIField("app", .app), APIField("owner_id", .word),
      APIField("token", .token), APIField("activity_id", .word),
      APIField("environment", .environment, isRequired: false),
      APIField("frequent", .flag, isRequired: false),
    ])

  /// `ridepulse.register_push_to_start`.
  package static let pushToStart = APICall(
    name: "push-to-start",
    fields: [
      APIField("app", .app), APIField("owner_id", .word), APIField("token", .token),
      APIField("attributes_type", .word),
      APIField("environment", .environment, isRequired: false),
    ])

  /// `ridepulse.contact`.
  package static let contact = APICall(
    name: "contact", fields: [APIField("app", .app), APIField("owner_id", .word)])

  /// All of them.
  package static let all = [events, devices, liveActivities, pushToStart, contact]

  /// What a body says, ready for the SQL function; an optional field that is null is left out.
  ///
  /// - Parameter apps: the apps that the service speaks to.
  /// - Throws: the first thing that is wrong.
  package func arguments(
    _ members: [String: JSONValue], apps: [App]
  ) throws(APIError) -> [String: JSONValue] {
    let known = fields.map(\.name)
    if let stray = members.keys.filter({ !known.contains($0) }).min() {
      let near =
        (nearestWord(to: String(stray.prefix(100)), among: known)
        ?? known.first { !stray.isEmpty && $0.hasPrefix(stray) }).map {
          "did you mean \($0)? "
        }
      throw APIError(
        .unknownField,
        "there is no field \(APIBody.clipped(stray)); \(near ?? "")known: \(known.joined(separator: ", "))",
        field: stray)
    }
    var arguments: [String: JSONValue] = [:]
    for field in fields {
      let value = members[field.name] ?? .null
      if value == .null {
        if !field.isRequired { continue }
        throw APIError(.missingField, "\(field.name) is missing; send it", field: field.name)
      }
      arguments[field.name] = try field.checked(value, apps: apps)
    }
    return arguments
  }
}

/// `Idempotency-Key`: who sends one twice means one call.
package enum IdempotencyKey {
  /// The key of a request; nil where it has none.
  ///
  /// - Throws: `invalidIdempotencyKey`.
  package static func of(_ request: HTTPRequest) throws(APIError) -> String? {
    guard let key = request.headers["idempotency-key"] else { return nil }
    guard (1...255).contains(key.utf8.count), key.utf8.allSatisfy({ (33...126).contains($0) })
    else {
      throw APIError(
        .invalidIdempotencyKey, "Idempotency-Key is not 1 to 255 visible ASCII characters")
    }
    return key
  }
}
