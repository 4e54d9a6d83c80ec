internal import COpenSSL
internal import Glibc
internal import SystemSupport

/// Why the gateway can't start, in one line.
package struct GatewayError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The problem and the object that has it.
  package let description: String

  init(_ description: String) {
    self.description = description
  }

  /// Returns the error of a failed OpenSSL call, with the library's text.
  static func openSSL(_ what: String) -> GatewayError {
    GatewayError("\(what): \(openSSLReason() ?? "no reason given")")
  }

  /// Returns the error of a failed system call.
  static func system(_ what: String, _ number: Int32 = errno) -> GatewayError {
    GatewayError("\(what): \(SystemError.text(number))")
  }
}

/// Returns OpenSSL's last error on this thread, or nil if there was none.
func openSSLReason() -> String? {
  defer { ERR_clear_error() }
  let code = ERR_peek_last_error()
  if code == 0 { return nil }
  return unsafe ERR_reason_error_string(code).map { unsafe String(cString: $0) } ?? "error \(code)"
}
