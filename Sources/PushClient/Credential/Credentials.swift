package import RideCore

/// What the connections of one pool present to APNs: all pushes on them use this and nothing else.
///
/// APNs refuses a second key on one connection (`UnrelatedKeyIdInToken`).
package enum Credential: Hashable, Sendable, CustomStringConvertible {
  /// Provider tokens signed with this key.
  case key(SigningKey)

  /// A client certificate in the TLS handshake, and no provider token.
  case certificate(ClientCertificate)

  /// The IDs or the subject's name, without any secret.
  package var description: String {
    switch self {
    case .key(let key): "\(key)"
    case .certificate(let certificate): "\(certificate)"
    }
  }

  /// A short name for logs and metrics: the key's ID, or the certificate's bundle ID or subject.
  package var name: String {
    switch self {
    case .key(let key): key.keyID
    case .certificate(let certificate):
      "certificate \(certificate.bundleID ?? certificate.commonName)"
    }
  }
}

/// The credentials of a service: for each lane the key, the certificate or both.
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

    package init(key: SigningKey? = nil, certificate: ClientCertificate? = nil) {
      self.key = key
      self.certificate = certificate
    }

    /// Returns what a push presents; nil if the lane has nothing that APNs accepts for its type.
    package func credential(for type: PushType) -> Credential? {
      if let certificate, !type.needsProviderToken { return .certificate(certificate) }
      return key.map { .key($0) }
    }

    /// What calls about channels present: APNs accepts both.
    package var forChannels: Credential? {
      key.map { .key($0) } ?? certificate.map { .certificate($0) }
    }

    /// The key and the certificate that are there.
    package var all: [Credential] {
      [key.map { .key($0) }, certificate.map { .certificate($0) }].compactMap { $0 }
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

  /// - Parameter bundleIDs: The bundle ID of each app.
  package init(lanes: [Lane: Choice], bundleIDs: [App: String]) {
    self.lanes = lanes
    others = Choice()
    // Apps of one bundle ID are the same app to Apple; the first by name decides.
    apps = Dictionary(
      bundleIDs.sorted { $0.key.rawValue < $1.key.rawValue }.map { ($0.value, $0.key) },
      uniquingKeysWith: { first, _ in first })
  }

  /// Returns what an app's pushes to a network may present.
  package subscript(lane: Lane) -> Choice {
    lanes[lane] ?? (lane.network == .android ? Choice() : others)
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
    return Set(listed + (network == .android ? [] : others.all))
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
