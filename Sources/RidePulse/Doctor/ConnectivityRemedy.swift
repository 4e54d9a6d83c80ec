import PushClient

/// What fixes a connection that APNs or FCM does not get.
enum ConnectivityRemedy {
  /// - Parameters:
  ///   - endpoint: The URL that was not reached.
  ///   - caVariable: The variable of the file of additional authorities.
  static func text(
    _ kind: ConnectivityFailure.Kind, endpoint: String, caVariable: String, hasCAFile: Bool
  ) -> String {
    switch kind {
    case .unreachable:
      "allow this host and port in the firewall; test with curl -v --http2 "
        + ShellText.word(endpoint)
    case .untrusted where hasCAFile:
      "check that \(caVariable) contains the CA of this endpoint, and that this machine's date is "
        + "right"
    case .untrusted:
      "apt-get install ca-certificates; for a simulator or proxy export \(caVariable)=ca.pem"
    case .noHTTP2:
      "let TLS connections pass unchanged; a proxy that terminates TLS must support h2"
    case .badAuthorities: "export \(caVariable) with the path of a PEM file, or unset it"
    }
  }
}
