package import Base

/// Names a push of a ride without its `apns-id`, which another set of rules may change.
package struct PushReference: StoredObject, Hashable, Sendable {
  package var ride: RideID
  package var rule: String
  /// Nil for what no phone received.
  package var token: String?

  package init(ride: RideID, rule: String, token: String?) {
    self.ride = ride
    self.rule = rule
    self.token = token
  }

  package static var blank: PushReference { PushReference(ride: "", rule: "", token: nil) }

  package mutating func visit(_ fields: inout some StoredFields) throws(StoredFault) {
    var rule: String? = rule
    try fields.field("ride", &ride)
    try fields.field("rule", &rule)
    self.rule = rule ?? ""
    try fields.field("token", &token)
    token = token.map(DeviceToken.recorded)
  }
}
