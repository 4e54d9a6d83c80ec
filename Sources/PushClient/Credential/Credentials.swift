package import RideCore

/// The credentials of a service: for each lane of APNs the key, the certificate or both, and for
/// each of FCM the service account.
package struct Credentials: Hashable, Sendable {
  /// An app in one environment of APNs, or at FCM.
  package struct Lane: Hashable, Sendable {
    /// With `_` for `-`, because variables name it so.
    package let app: App
    package let network: PushNetwork

    package init(_ app: App, _ network: PushNetwork) {
      let hasHyphen = app.rawValue.utf8.contains(UInt8(ascii: "-"))
      self.app = hasHyphen ? App(rawValue: app.rawValue.replacing("-", with: "_")) : app
      self.network = network
    }
  }

  /// What one lane may present.
  package struct Choice: Hashable, Sendable {
    /// Signs what a certificate can't send, or everything if there is none.
    package var key: SigningKey?
    package var certificate: ClientCertificate?

    /// Gets the access tokens of a lane of FCM, which has nothing else.
    package var serviceAccount: ServiceAccount?

    package init(
      key: SigningKey? = nil, certificate: ClientCertificate? = nil,
      serviceAccount: ServiceAccount? = nil
    ) {
      self.key = key
      self.certificate = certificate
      self.serviceAccount = serviceAccount
    }

    /// Returns what a push presents; nil if the lane has nothing that is accepted for its type.
    package func credential(for type: PushType) -> Credential? {
      if let serviceAccount { return .serviceAccount(serviceAccount) }
      if let certificate, !type.needsProviderToken { return .certificate(certificate) }
      return key.map { .key($0) }
    }

    /// What calls about channels present: APNs accepts both.
    package var forChannels: Credential? {
      key.map { .key($0) } ?? certificate.map { .certificate($0) }
    }

    /// The credentials that are there.
    package var all: [Credential] {
      [
        key.map { .key($0) }, certificate.map { .certificate($0) },
        serviceAccount.map { .serviceAccount($0) },
      ].compactMap { $0 }
    }
  }

  /// The choice of each lane that has one.
  package private(set) var lanes: [Lane: Choice] = [:]

  /// The choice of lanes that are not listed.
  private let others: Choice

  /// The lane's app of each bundle ID, for calls that name no app.
  private let apps: [String: App]

  /// Creates credentials that use one key for everything.
  package init(key: SigningKey) {
    others = Choice(key: key)
    apps = [:]
  }

  /// - Parameters:
  ///   - bundleIDs: The bundle ID of each app.
  ///   - serviceAccount: That of each app whose lane of FCM is not listed.
  package init(
    lanes: [Lane: Choice], bundleIDs: [App: String], serviceAccount: ServiceAccount? = nil
  ) {
    self.lanes = lanes
    others = Choice(serviceAccount: serviceAccount)
    // Apps of one bundle ID are the same app to Apple; the first by name decides.
    apps = Dictionary(
      bundleIDs.sorted { $0.key.rawValue < $1.key.rawValue }.map { ($0.value, $0.key) },
      uniquingKeysWith: { first, _ in first })
  }

  /// Returns what an app's pushes to a network may present.
  package subscript(lane: Lane) -> Choice { lanes[lane] ?? others(of: lane.network) }

  private func others(of network: PushNetwork) -> Choice {
    network == .android
      ? Choice(serviceAccount: others.serviceAccount)
      : Choice(key: others.key, certificate: others.certificate)
  }

  /// Returns what calls about an app's channels present.
  func forChannels(of scope: ChannelScope) -> Credential? {
    let app = apps[scope.bundleID] ?? App(rawValue: "")
    return self[Lane(app, PushNetwork(scope.environment))].forChannels
  }

  /// The names of all credentials, for logs.
  package var names: String {
    Set(PushNetwork.allCases.flatMap { all(of: $0) }.map(\.name)).sorted()
      .joined(separator: ", ")
  }

  /// Every credential that a lane of a network may present.
  package func all(of network: PushNetwork) -> Set<Credential> {
    let listed = lanes.filter { $0.key.network == network }.flatMap(\.value.all)
    return Set(listed + others(of: network).all)
  }

  /// Every service account that a lane may present.
  package var serviceAccounts: Set<ServiceAccount> {
    Set((lanes.values.map(\.serviceAccount) + [others.serviceAccount]).compactMap(\.self))
  }
}

extension PushType {
  /// Whether APNs refuses the type on a connection with a client certificate.
  package var needsProviderToken: Bool {
    switch self {
    case .alert, .background, .voip, .complication, .fileprovider, .mdm, .pushtotalk: false
    case .liveactivity, .location, .widgets, .controls: true
    }
  }
}
