import Base
import PushClient
import RideCore

/// What is doubtful about credentials that were loaded; the service runs with them.
enum CredentialAdvice {
  /// Certificates that expire sooner are reported.
  static let renewal: Duration = .seconds(30 * 86_400)

  /// Returns one text for each doubt, with its remedy, in a stable order.
  ///
  /// - Parameter cardApps: The apps that rules send cards to.
  static func all(
    _ credentials: Credentials, _ apns: APNsVariables, cardApps: [App], at now: Timestamp
  ) -> [String] {
    apns.credentials.warnings + apns.fcm.warnings + names(credentials, apns.credentials)
      + cards(credentials, apns, cardApps) + certificates(credentials, apns, now)
  }

  private static func names(
    _ credentials: Credentials, _ variables: CredentialVariables
  ) -> [String] {
    let found = variables.lanes.compactMap { lane, source in
      source.key.map { ($0, credentials[lane].key?.keyIDOfFile) }
    }
    let names = Dictionary(found, uniquingKeysWith: { first, _ in first })
    return variables.keys.compactMap { source in
      guard let keyID = source.keyID, let other = names[source] ?? nil, other != keyID else {
        return nil
      }
      return
        "\(source.keyIDName) is \(keyID), and the name of the file that \(source.pathName) leads "
        + "to has \(other): unset \(source.keyIDName) if the name is right"
    }
  }

  private static func cards(
    _ credentials: Credentials, _ apns: APNsVariables, _ apps: [App]
  ) -> [String] {
    apps.sorted { $0.rawValue < $1.rawValue }.compactMap { app in
      let choice = credentials[.init(app, PushNetwork(apns.defaultEnvironment))]
      guard choice.certificate != nil, choice.key == nil else { return nil }
      return "cards of the app \(app) can't be sent: APNs accepts none over a client certificate; "
        + "set APNS_\(app.variableName)_PRIVATE_KEY_PATH, or APNS_PRIVATE_KEY_PATH for all apps"
    }
  }

  private static func certificates(
    _ credentials: Credentials, _ apns: APNsVariables, _ now: Timestamp
  ) -> [String] {
    apns.bundleIDs.sorted { $0.key.rawValue < $1.key.rawValue }.flatMap { app, bundleID in
      let lanes = APNsEnvironment.allCases.map { Credentials.Lane(app, PushNetwork($0)) }
      guard let certificate = lanes.lazy.compactMap({ credentials[$0].certificate }).first else {
        return [String]()
      }
      return self.certificate(certificate, of: app, bundleID: bundleID, at: now)
    }
  }

  /// Returns what is doubtful about an app's certificate.
  static func certificate(
    _ certificate: ClientCertificate, of app: App, bundleID: String, at now: Timestamp
  ) -> [String] {
    let name = "APNS_\(app.variableName)_CERTIFICATE_PATH"
    var doubts: [String] = []
    if let other = certificate.bundleID, other != bundleID {
      doubts.append(
        "\(name) is a certificate for \(other), and the app's bundle ID is \(bundleID)")
    }
    if certificate.expires <= now {
      doubts.append("\(name) expired on \(CivilTime.iso(certificate.expires)): renew it at Apple")
    } else if certificate.expires - now < renewal {
      doubts.append("\(name) expires on \(CivilTime.iso(certificate.expires)): renew it at Apple")
    }
    return doubts
  }
}
