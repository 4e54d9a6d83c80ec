package import Base
package import RideCore

/// A writing call of the API; it accepts the arguments of the SQL function that it invokes.
package struct APICall: Hashable, Sendable {
  /// The name that is passed to `ridepulse.answer`.
  package let name: String
  package let method: String
  /// The path; `parameters` names its variable parts.
  package let path: String
  /// The variable parts of the path.
  package let parameters: [APIField]
  /// The parameters after the path, none of which is required.
  package let query: [APIField]
  /// The fields of the body.
  package let fields: [APIField]

  private init(
    _ name: String, _ method: String, _ path: String, parameters: [APIField] = [],
    query: [APIField] = [], fields: [APIField] = []
  ) {
    self.name = name
    self.method = method
    self.path = path
    self.parameters = parameters
    self.query = query
    self.fields = fields
  }

  /// Calls `ridepulse.emit`.
  package static let events = APICall(
    "events", "POST", "/v1/events",
    fields: [
      APIField("event", .word), APIField("ride_id", .word, isRequired: false),
      APIField("data", .object, isRequired: false),
    ])

  /// Calls `ridepulse.put_ride`, which inserts or replaces a row of `ridepulse.rides`.
  package static let rides = APICall(
    "rides", "PUT", "/v1/rides/{id}", parameters: [APIField("id", .word)],
    fields: [
      APIField("state", .word, isRequired: false),
      APIField("customer_id", .word, isRequired: false),
      APIField("driver_id", .word, isRequired: false),
      APIField("pickup_at", .time, isRequired: false),
      APIField("time_zone", .timeZone, isRequired: false),
      APIField("attributes", .object, isRequired: false),
      APIField("participants", .participants, isRequired: false),
    ])

  /// Calls `ridepulse.register_device`.
  package static let devices = APICall(
    "devices", "POST", "/v1/devices",
    fields: [
      APIField("app", .app), APIField("owner_id", .word), APIField("token", .phoneToken),
      APIField("environment", .environment, isRequired: false),
      APIField("installation_id", .word, isRequired: false),
      APIField("locale", .word, isRequired: false),
      APIField("platform", .platform, isRequired: false),
      // A newer system may know a zone that this service does not: its phone is registered.
      APIField("time_zone", .word, isRequired: false),
      APIField("alerts", .flag, isRequired: false),
      APIField("app_version", .word, isRequired: false),
    ])

  /// Calls `ridepulse.unregister_device`.
  package static let deleteDevice = APICall(
    "delete-device", "DELETE", "/v1/devices/{app}/{token}",
    parameters: [APIField("app", .app), APIField("token", .phoneToken)])

  /// Calls `ridepulse.register_live_activity`.
  package static let liveActivities = APICall(
    "live-activities", "POST", "/v1/live-activities",
    fields: [
      APIField("ride_id", .word), APIField("app", .app), APIField("owner_id", .word),
      APIField("token", .token), APIField("activity_id", .word),
      APIField("environment", .environment, isRequired: false),
      APIField("frequent", .flag, isRequired: false),
      APIField("installation_id", .word, isRequired: false),
    ])

  /// Calls `ridepulse.end_live_activity`.
  package static let deleteLiveActivity = APICall(
    "delete-live-activity", "DELETE", "/v1/live-activities/{app}/{activity_id}",
    parameters: [APIField("app", .app), APIField("activity_id", .word)],
    query: [
      APIField("owner_id", .word, isRequired: false),
      APIField("reason", .cardEnd, isRequired: false),
    ])

  /// Calls `ridepulse.register_push_to_start`.
  package static let pushToStart = APICall(
    "push-to-start", "POST", "/v1/push-to-start",
    fields: [
      APIField("app", .app), APIField("owner_id", .word), APIField("token", .token),
      APIField("attributes_type", .word),
      APIField("environment", .environment, isRequired: false),
      APIField("installation_id", .word, isRequired: false),
    ])

  /// Calls `ridepulse.unregister_push_to_start`.
  package static let deletePushToStart = APICall(
    "delete-push-to-start", "DELETE", "/v1/push-to-start/{app}/{token}",
    parameters: [APIField("app", .app), APIField("token", .token)])

  /// Calls `ridepulse.contact`.
  package static let contact = APICall(
    "contact", "POST", "/v1/contact",
    fields: [
      APIField("app", .app), APIField("owner_id", .word),
      APIField("installation_id", .word, isRequired: false),
    ])

  /// Calls `ridepulse.seen`.
  package static let seen = APICall(
    "seen", "POST", "/v1/seen", fields: [APIField("apns_id", .pushID)])
  /// Calls `ridepulse.set_preference`.
  package static let preferences = APICall(
    "preferences", "PUT", "/v1/preferences",
    fields: [
      APIField("app", .app), APIField("owner_id", .word), APIField("topic", .topic),
      APIField("allowed", .flag),
    ])

  /// Calls `ridepulse.push` or, with a channel, `ridepulse.broadcast`.
  package static let push = APICall(
    "push", "POST", "/v1/push",
    fields: [
      APIField("app", .app), APIField("token", .phoneToken, isRequired: false),
      APIField("channel_id", .channel, isRequired: false), APIField("payload", .payload),
      APIField("push_type", .pushType, isRequired: false),
      APIField("priority", .priority, isRequired: false),
      APIField("expires", .expiry, isRequired: false),
      APIField("environment", .environment, isRequired: false),
      APIField("collapse_id", .collapseID, isRequired: false),
    ])

  package static let all = [
    events, rides, devices, deleteDevice, liveActivities, deleteLiveActivity, pushToStart,
    deletePushToStart, contact, seen, preferences, push,
  ]

  /// Returns the arguments of the SQL function that a request carries in its path and its body.
  ///
  /// - Parameter apps: the apps that the service is configured for.
  /// - Throws: the first error found.
  package func arguments(
    of request: HTTPRequest, apps: [App]
  ) throws(APIError) -> [String: JSONValue] {
    var arguments: [String: JSONValue] = [:]
    for parameter in parameters {
      let text = request.parameters[parameter.name] ?? ""
      arguments[parameter.name] = try parameter.checked(.string(text), apps: apps)
    }
    arguments.merge(try queried(request.query, apps: apps)) { first, _ in first }
    let hasBody = !fields.isEmpty || !request.body.isEmpty
    let members = hasBody ? try APIBody.members(of: request) : [:]
    return arguments.merging(try self.arguments(members, apps: apps)) { first, _ in first }
  }

  /// Returns the body's fields as arguments of the SQL function, without optional fields that are
  /// null.
  ///
  /// - Throws: the first error found.
  func arguments(
    _ members: [String: JSONValue], apps: [App]
  ) throws(APIError) -> [String: JSONValue] {
    try refuseStray(members.keys, known: fields.map(\.name)) { "there is no field \($0)" }
    var arguments: [String: JSONValue] = [:]
    for field in fields {
      let value = members[field.name] ?? .null
      if value == .null {
        if !field.isRequired { continue }
        throw APIError(.missingField, "\(field.name) is missing; send it", field: field.name)
      }
      arguments[field.name] = try field.checked(value, apps: apps)
    }
    if self == .devices { try Self.checkPhone(arguments) }
    return arguments
  }
}
