internal import COpenSSL

/// The app that a certificate is for, according to its subject.
struct CertificateSubject: Equatable {
  /// Values of UID, byte for byte.
  var users: [[UInt8]] = []
  /// Values of CN, byte for byte.
  var commonNames: [[UInt8]] = []

  /// The prefixes that Apple put before the bundle ID in the certificates of its own service.
  private static let applePrefixes = [
    "Apple Push Services: ", "Apple Production IOS Push Services: ",
    "Apple Development IOS Push Services: ", "Apple Sandbox Push Services: ",
    "Apple Production Mac Push Services: ", "Apple Development Mac Push Services: ",
  ]

  /// Returns whether the certificate is for an app.
  ///
  /// Its UID decides if it has one, otherwise its CN, alone or in Apple's form. Names are compared
  /// as a whole and as bytes: a certificate that has the bundle ID within a longer name, or next to
  /// another name, is for another app.
  func names(_ bundleID: String) -> Bool {
    let names = users.isEmpty ? commonNames : users
    guard names.count == 1, let name = names.first else { return false }
    if name.elementsEqual(bundleID.utf8) { return true }
    return users.isEmpty
      && Self.applePrefixes.contains { name.elementsEqual(($0 + bundleID).utf8) }
  }
}

extension TLSStream {
  /// The subject of the peer's certificate; nil if it has none.
  var peerSubject: CertificateSubject? {
    guard let certificate = unsafe SSL_get0_peer_certificate(ssl) else { return nil }
    return unsafe CertificateSubject(
      users: Self.names(certificate, NID_userId),
      commonNames: Self.names(certificate, NID_commonName))
  }

  private static func names(_ certificate: OpaquePointer, _ kind: Int32) -> [[UInt8]] {
    guard let subject = unsafe X509_get_subject_name(certificate) else { return [] }
    var names: [[UInt8]] = []
    var place: Int32 = -1
    while true {
      place = unsafe X509_NAME_get_index_by_NID(subject, kind, place)
      guard place >= 0 else { return names }
      let data = unsafe X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, place))
      var text: UnsafeMutablePointer<UInt8>?
      let count = unsafe ASN1_STRING_to_UTF8(&text, data)
      guard count >= 0, let start = unsafe text else {
        // A name that can't be decoded still counts as a name.
        names.append([])
        continue
      }
      // The length counts, not a NUL: an embedded NUL would make a name look like another.
      names.append(unsafe Array(UnsafeBufferPointer(start: start, count: Int(count))))
      unsafe ridepulse_OPENSSL_free(start)
    }
  }
}
