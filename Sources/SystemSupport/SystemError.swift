internal import Glibc

/// The system's texts for error numbers.
package enum SystemError {
  /// Returns the text for an `errno`, such as `No such file or directory`.
  package static func text(_ code: Int32) -> String {
    // Since glibc 2.32 the text of strerror is thread-local.
    unsafe strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)"
  }
}
