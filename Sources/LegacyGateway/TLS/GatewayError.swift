internal import COpenSSL
internal import Glibc

/// Why the gateway can't open its doors, in one line.
package struct GatewayError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong, and with what.
  package let description: String

  init(_ description: String) {
    self.description = description
  }

  /// A call of OpenSSL that failed, with the library's own words.
  static func openSSL(_ what: String) -> GatewayError {
    GatewayError("\(what): \(openSSLReason() ?? "no reason given")")
  }

  /// A call of the system that failed.
  static func system(_ what: String, _ number: Int32 = errno) -> GatewayError {
    GatewayError("\(what): \(unsafe String(cString: strerror(number)))")
  }
}

/// What OpenSSL last complained of on this thread; nil where it did not.
func openSSLReason() -> String? {
  defer { ERR_clear_error() }
  let code = ERR_peek_last_error()
  if code == 0 { return nil }
  return unsafe ERR_reason_error_string(code).map { unsafe String(cString: $0) } ?? "error \(code)"
}
