internal import CSystem
internal import Glibc

/// Keeps what the process holds in memory, keys and tokens, from leaving it.
package enum ProcessSecrecy {
  /// Forbids core dumps and, except for root, reading the memory with a debugger. It does not pass to
  /// programs that this process starts.
  ///
  /// RLIMIT_CORE alone would not do: a core pattern that is a pipe ignores it.
  package static func forbidMemoryDumps() {
    _ = ridepulse_set_undumpable()
  }

  /// Forgets `SSLKEYLOGFILE`, and returns its value. libcurl would write the secrets of each TLS
  /// session to that file.
  ///
  /// To be called before there is a second thread: another one may read the environment.
  package static func forgetKeyLogFile() -> String? {
    let name = "SSLKEYLOGFILE"
    guard let value = unsafe getenv(name) else { return nil }
    let text = unsafe String(cString: value)
    unsafe unsetenv(name)
    return text
  }
}
