import COpenSSL

/// The certificate that a client presented, as its subject describes it.
package struct PeerCertificate: Equatable, Sendable {
  package let commonName: String
  package let userIDs: [String]
  /// Hexadecimal; tells a renewed certificate from the old one.
  package let serial: String

  package init(commonName: String, userIDs: [String], serial: String) {
    self.commonName = commonName
    self.userIDs = userIDs
    self.serial = serial
  }
}

extension TLSStream {
  /// The certificate that the client presented; the handshake has verified it.
  var peerCertificate: PeerCertificate? {
    unsafe withPeerCertificate { certificate in
      guard let name = unsafe X509_get_subject_name(certificate) else { return nil }
      return unsafe PeerCertificate(
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
