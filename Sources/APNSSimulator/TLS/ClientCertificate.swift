import COpenSSL

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
  init(commonName: String, userIDs: [String], serial: String) {
    self.commonName = commonName
    self.serial = serial
    let named = commonName.split(separator: " ").last.map(String.init) ?? ""
    topics = userIDs.isEmpty ? (HeaderRules.isTopic(named) ? [named] : []) : userIDs
    environments =
      commonName.hasPrefix("Apple Development")
      ? [.sandbox]
      : commonName.hasPrefix("Apple Production") ? [.production] : [.production, .sandbox]
  }
}

extension TLSStream {
  /// The certificate that the client presented; the handshake has verified it.
  var clientCertificate: ClientCertificate? {
    unsafe withPeerCertificate { certificate in
      guard let name = unsafe X509_get_subject_name(certificate) else { return nil }
      return unsafe ClientCertificate(
        commonName: Self.entries(name, NID_commonName).first ?? "",
        userIDs: Self.entries(name, NID_userId), serial: Self.serial(certificate))
    }
  }

  private static func entries(_ name: OpaquePointer, _ identifier: Int32) -> [String] {
    var found: [String] = []
    var index: Int32 = -1
    while true {
      index = unsafe X509_NAME_get_index_by_NID(name, identifier, index)
      guard index >= 0 else { return found }
      guard let entry = unsafe X509_NAME_get_entry(name, index) else { return found }
      var text: UnsafeMutablePointer<UInt8>?
      let count = unsafe ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(entry))
      guard let start = unsafe text else { continue }
      defer { unsafe ridepulse_OPENSSL_free(start) }
      let bytes = unsafe UnsafeBufferPointer(start: start, count: max(0, Int(count)))
      found.append(unsafe String(decoding: bytes, as: UTF8.self))
    }
  }

  private static func serial(_ certificate: OpaquePointer) -> String {
    let number = unsafe ASN1_INTEGER_to_BN(X509_get0_serialNumber(certificate), nil)
    defer { unsafe BN_free(number) }
    guard let number = unsafe number, let text = unsafe BN_bn2hex(number) else { return "" }
    defer { unsafe ridepulse_OPENSSL_free(text) }
    return unsafe String(cString: text)
  }
}
