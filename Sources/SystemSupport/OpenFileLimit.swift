internal import Glibc

/// The number of files that this process may have open.
package enum OpenFileLimit {
  /// The least with which a program starts: below it, the runtime traps as soon as it needs a thread's
  /// wake-up, and no error of ours is printed.
  package static let least: UInt = 64

  /// Raises the limit as far as it may be raised; returns it, or nil if the system does not tell.
  package static func raise() -> UInt? {
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
      return nil
    }
    if limit.rlim_cur < least, limit.rlim_max > limit.rlim_cur {
      limit.rlim_cur = min(limit.rlim_max, 1024)
      unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
    return limit.rlim_cur
  }

  /// What is wrong with a limit and how to raise it; nil if it suffices.
  package static func problem() -> String? {
    guard let limit = raise(), limit < least else { return nil }
    return "at most \(limit) files may be open, \(least) are needed: raise the limit with "
      + "ulimit -n 1024, or LimitNOFILE= of the unit"
  }
}
