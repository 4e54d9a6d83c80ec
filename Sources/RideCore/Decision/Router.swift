/// Whose phones a rule's app means.
enum Router {
  /// The owner of an app's phones on a ride: whom the event names, or whom the ride does.
  ///
  /// An event's data may name another with the key `<app>_id`, as an offer does:
  /// `{"driver_id": "d9"}`. An app other than customer and driver is looked for among the ride's
  /// attributes under the same key.
  static func owner(of app: App, in scope: Scope) -> String? {
    let key = app.rawValue + "_id"
    if let named = scope.datum(key), named != .null, !named.text.isEmpty { return named.text }
    switch app {
    case .customer: return scope.ride.customerID
    case .driver: return scope.ride.driverID
    default: return scope.attribute(key).flatMap { $0 == .null ? nil : $0.text }
    }
  }
}

extension RideView {
  /// Whose phones a decision about an event of this ride would look for, by app.
  public func owners(of apps: [App], on event: RideEvent) -> [(app: App, owner: String)] {
    guard let ride else { return [] }
    let scope = Scope(
      ride: ride, attributes: JSONValue(json: ride.attributes.utf8), event: event)
    return apps.compactMap { app in Router.owner(of: app, in: scope).map { (app, $0) } }
  }
}
