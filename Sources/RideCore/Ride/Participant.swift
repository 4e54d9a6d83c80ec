/// A further person of a ride: a row of `ridepulse.participants`.
package struct Participant: Hashable, Sendable {
  package var app: App
  package var ownerID: OwnerID

  package init(app: App, ownerID: OwnerID) {
    self.app = app
    self.ownerID = ownerID
  }

  /// The maximum number of participants of a ride, and of people whom one event names: all phones
  /// of an event are read at once.
  package static let limit = 1000
}
