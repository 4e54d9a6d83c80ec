internal import CSystem
internal import Glibc

/// Keeps the keys and tokens in the process's memory from leaving it.
package enum ProcessSecrecy {
  /// Forbids core dumps and, except for root, reading the memory with a debugger. Programs that
  /// this process starts do not inherit it.
  ///
  /// RLIMIT_CORE alone is not enough: a core pattern that is a pipe ignores it.
  package static func forbidMemoryDumps() {
    _ = ridepulse_set_undumpable()
  }

  /// Removes `SSLKEYLOGFILE` from the environment, and returns its value. libcurl would write the
  /// secrets of each TLS session to that file.
  ///
  /// Must be called before a second thread exists, which might read the environment.
  package static func forgetKeyLogFile() -> String? {
    let name = "SSLKEYLOGFILE"
    guard let value = unsafe getenv(name) else { return nil }
    let text = unsafe String(cString: value)
    unsafe unsetenv(name)
    return text
  }
}
