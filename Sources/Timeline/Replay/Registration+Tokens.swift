package import Base
package import RideCore

// What a registration creates.

extension Phone {
  package init(_ registration: Registration, id: Int64) {
    self.init(
      id: id, app: registration.app, ownerID: registration.ownerID, token: registration.token,
      environment: registration.environment, locale: registration.locale)
    platform = registration.platform
    installationID = registration.installationID
    timeZone = registration.timeZone
  }

  /// Returns whether a contact may have been this phone's: unless both name other installations.
  func mayBe(_ installation: InstallationID?) -> Bool {
    guard let installation, let installationID else { return true }
    return installation == installationID
  }
}

extension StartToken {
  package init(_ registration: Registration, id: Int64, type: String, at now: Timestamp) {
    self.init(
      id: id, app: registration.app, ownerID: registration.ownerID, attributesType: type,
      token: registration.token, environment: registration.environment, registeredAt: now)
    installationID = registration.installationID
  }
}

extension Card {
  package init(_ registration: Registration, id: Int64, at now: Timestamp) {
    self.init(
      .activity(id), app: registration.app, ownerID: registration.ownerID,
      token: registration.token, environment: registration.environment,
      isFrequent: registration.isFrequent, registeredAt: now, isGone: registration.isRemoved)
    installationID = registration.installationID
  }
}

extension Registration {
  /// Creates the registration of the card that a push started, as its app makes it.
  ///
  /// - Parameter id: That of the card; nil takes one that is the same in every replay of the ride.
  init(startedBy start: StartToken, ride: RideID, id: Int64?) {
    let name = PushID(of: "card", ride.text, start.token, start.attributesType)
    self.init(
      app: start.app, ownerID: start.ownerID,
      token: name.description.replacing("-", with: ""))
    (environment, installationID) = (start.environment, start.installationID)
    self.ride = ride
    self.id = id ?? Int64(truncatingIfNeeded: name.bits & 0x7fff_ffff_ffff_ffff)
  }
}
