import SimulatorKit

/// How a command reaches the running simulator, and what it signs with.
struct SenderOptions: Equatable, Sendable {
  var port: UInt16 = 2197
  var stateDirectory = "./.apns-simulator"
  var teamID = "SIMTEAM001"
  var keyID = "SIMKEY0001"

  var authorityPath: String { stateDirectory + "/ca.pem" }

  func keyPath(_ keyID: String) -> String { "\(stateDirectory)/AuthKey_\(keyID).p8" }
}

/// Provider tokens signed with the keys of the state directory, one for each key and team.
struct ProviderTokenWriter {
  private struct Subject: Hashable {
    let keyID: String
    let teamID: String
  }

  /// APNs takes a token for an hour, and no other one on its connection for 20 minutes.
  private static let longestUse = 40 * 60

  private let options: SenderOptions
  private let issuedAt: Int
  private var known: [Subject: String] = [:]

  init(_ options: SenderOptions, issuedAt: Int) {
    self.options = options
    self.issuedAt = issuedAt
  }

  /// Whether a connection should go on with new tokens.
  func isOutdated(at now: Int) -> Bool { now - issuedAt > Self.longestUse }

  /// Returns the value of `authorization`; a key that the directory lacks is replaced by the
  /// simulator's own.
  mutating func authorization(keyID: String? = nil, teamID: String? = nil) throws -> String {
    let hasKey = keyID.map { File.exists(options.keyPath($0)) } ?? false
    let subject = Subject(
      keyID: hasKey ? keyID ?? options.keyID : options.keyID,
      teamID: hasKey ? teamID ?? options.teamID : options.teamID)
    if let text = known[subject] { return text }
    let text = "bearer " + (try sign(subject))
    known[subject] = text
    return text
  }

  private func sign(_ subject: Subject) throws -> String {
    let key = try SigningKey(privatePEM: File.read(options.keyPath(subject.keyID)))
    let header: [String: JSON] = ["alg": .string("ES256"), "kid": .string(subject.keyID)]
    let claims: [String: JSON] = ["iss": .string(subject.teamID), "iat": .integer(issuedAt)]
    let parts = [header, claims].map { Base64URL.encode(JSON.object($0).serialized) }
    let text = parts.joined(separator: ".")
    return text + "." + Base64URL.encode(try key.signature(of: Array(text.utf8)))
  }
}

/// What the simulator answered to a push or call.
struct SentAnswer: Equatable {
  /// Zero if there was no answer.
  let status: Int
  let reason: String?
  /// The text of `apns-simulator-detail`, or why there was no answer.
  let detail: String?
  let id: String?

  init(_ answer: Answer) {
    func header(_ name: String) -> String? { answer.headers.first { $0.name == name }?.value }
    status = answer.status
    reason = (try? JSONParser.parse(answer.body))?.object?["reason"]?.string
    detail = header(Verdict.detailHeader)
    id = header("apns-id") ?? header("apns-request-id")
  }

  init(_ error: ClientError) {
    status = 0
    reason = nil
    detail = error.description
    id = nil
  }

  var isAccepted: Bool { (200..<300).contains(status) }

  /// Why the phone drops the accepted push.
  var dropped: String? { isAccepted ? detail : nil }
}
