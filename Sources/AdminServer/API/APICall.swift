package import RideCore

/// A writing call of the API; it accepts the arguments of the SQL function that it invokes.
package struct APICall: Hashable, Sendable {
  /// The name that is passed to `ridepulse.answer`, and the last part of the path.
  package let name: String
  package let fields: [APIField]

  package var path: String { "/v1/\(name)" }

  /// Calls `ridepulse.emit`.
  package static let events = APICall(
    name: "events",
    fields: [
      APIField("event", .word), APIField("ride_id", .word),
      APIField("data", .object, isRequired: false),
    ])

  /// Calls `ridepulse.register_device`.
  package static let devices = APICall(
    name: "devices",
    fields: [
      APIField("app", .app), APIField("owner_id", .word), APIField("token", .token),
      APIField("environment", .environment, isRequired: false),
      APIField("installation_id", .word, isRequired: false),
      APIField("locale", .word, isRequired: false),
    ])

  /// Calls `ridepulse.register_live_activity`.
  package static let liveActivities = APICall(
    name: "live-activities",
    fields: [
      APIField("ride_id", .word), APIField("app", .app), APIField("owner_id", .word),
      APIField("token", .token), APIField("activity_id", .word),
      APIField("environment", .environment, isRequired: false),
      APIField("frequent", .flag, isRequired: false),
    ])

  /// Calls `ridepulse.register_push_to_start`.
  package static let pushToStart = APICall(
    name: "push-to-start",
    fields: [
      APIField("app", .app), APIField("owner_id", .word), APIField("token", .token),
      APIField("attributes_type", .word),
      APIField("environment", .environment, isRequired: false),
    ])

  /// Calls `ridepulse.contact`.
  package static let contact = APICall(
    name: "contact", fields: [APIField("app", .app), APIField("owner_id", .word)])

  package static let all = [events, devices, liveActivities, pushToStart, contact]

  /// Returns the body's fields as arguments of the SQL function, without optional fields that are
  /// null.
  ///
  /// - Parameter apps: the apps that the service is configured for.
  /// - Throws: the first error found.
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

/// Reads the `Idempotency-Key` header: requests with the same key are one call.
package enum IdempotencyKey {
  /// Returns the key of a request; nil if it has none.
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
