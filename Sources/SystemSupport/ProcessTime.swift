internal import CSystem
internal import Glibc

/// The processor time of this process.
package enum ProcessTime {
  /// Returns the time that all threads together have used; nil if the system does not provide it.
  package static func cpu() -> Duration? {
    var time = timespec()
    guard unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0 else { return nil }
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }
}
