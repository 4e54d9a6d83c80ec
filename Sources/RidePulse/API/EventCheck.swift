import AdminServer
import Base
import RideCore

/// Checks a posted event against the words of the rule files.
///
/// The name of a state is posted by mistake for a change of the ride's state: the rules would read
/// the state that the ride has.
enum EventCheck {
  /// Returns the state that the ride must be in for the event to be accepted; nil for any.
  ///
  /// - Throws: `unknownEvent`, with the nearest known event.
  static func awaitedState(_ event: String, by rules: RuleSet) throws(APIError) -> String? {
    if rules.activeStates.contains(event) || rules.finalStates.contains(event) { return event }
    if rules.knownEvents.contains(event) { return nil }
    if InternalEvent(rawValue: event) != nil {
      throw APIError(
        .unknownEvent, "RidePulse emits this event itself; it can't be posted", field: "event")
    }
    let near = suggestion(for: String(event.prefix(100)), among: rules.knownEvents.sorted())
    throw APIError(
      .unknownEvent,
      "no rule file of the service declares this event\(near). Declare it under events: there, and "
        + "send SIGHUP to the service", field: "event")
  }

  static func wrongState(awaited: String, current: String?) -> APIError {
    let state = current.map { "in the state \($0)" } ?? "in no state"
    return APIError(
      .wrongState,
      "\(awaited) is a state, and the ride is \(state). Change its state with PUT /v1/rides/{id}, "
        + "which emits the event", field: "event")
  }

  /// Checks that an event without a ride names a person.
  static func checkAddress(_ arguments: [String: JSONValue], apps: [App]) throws(APIError) {
    if arguments["ride_id"] != nil { return }
    let data = arguments["data"].map { String(decoding: $0.json, as: UTF8.self) } ?? "{}"
    if !PersonalEvent.split(data, apps: apps).isEmpty { return }
    let keys = Set(apps).union([.customer, .driver]).map(\.ownerKey).sorted()
    throw APIError(
      .missingField,
      "ride_id is missing, and data names no person; send one of them, a person by "
        + keys.joined(separator: ", "), field: "ride_id")
  }

  static func lacksRide(awaited: String) -> APIError {
    APIError(
      .missingField, "\(awaited) is a state, and no ride is named; send ride_id", field: "ride_id")
  }

  static func noRide(awaited: String) -> APIError {
    APIError(
      .wrongState,
      "\(awaited) is a state, and there is no such ride. Create it in that state with "
        + "PUT /v1/rides/{id}, which emits the event", field: "ride_id")
  }
}
