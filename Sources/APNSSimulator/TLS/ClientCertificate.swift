import SimulatorKit

/// The client certificate that authenticates a connection, as its subject describes it.
struct ClientCertificate: Equatable, Sendable {
  let commonName: String
  /// Hexadecimal; tells a renewed certificate from the old one.
  let serial: String
  /// The bundle IDs that it may send to.
  let topics: [String]
  let environments: Set<Environment>

  /// Interprets a subject in the form of Apple's certificates.
  ///
  /// The topics are the subject's user IDs; without any, the common name after its last `": "`, as
  /// in `Apple Push Services: com.example.customer`. A common name that begins with
  /// `Apple Development` or `Apple Production` limits the certificate to one environment.
  init(_ presented: PeerCertificate) {
    let userIDs = presented.userIDs
    commonName = presented.commonName
    serial = presented.serial
    let named = commonName.split(separator: " ").last.map(String.init) ?? ""
    topics = userIDs.isEmpty ? (HeaderRules.isTopic(named) ? [named] : []) : userIDs
    environments =
      commonName.hasPrefix("Apple Development")
      ? [.sandbox]
      : commonName.hasPrefix("Apple Production") ? [.production] : [.production, .sandbox]
  }
}
