internal import Foundation
internal import Glibc

/// The user that the server runs as, because Postgres refuses to run as root.
enum ServerUser: Hashable, Sendable {
  /// The caller is an ordinary user.
  case caller
  /// The caller is root and changes to this user.
  case other(name: String, id: uid_t, group: gid_t)

  static func choose() throws(LocalPostgresError) -> ServerUser {
    guard geteuid() == 0 else { return .caller }
    for name in ["postgres", "nobody"] {
      guard let entry = unsafe getpwnam(name) else { continue }
      return unsafe .other(name: name, id: entry.pointee.pw_uid, group: entry.pointee.pw_gid)
    }
    throw .directory(reason: "root has no user `postgres` or `nobody` to step down to")
  }

  /// Returns a command line that replaces itself with another one, run as this user.
  func command(_ line: [String]) -> [String] {
    switch self {
    case .caller: line
    case .other(_, let id, let group):
      ["/usr/bin/setpriv", "--reuid=\(id)", "--regid=\(group)", "--clear-groups", "--"] + line
    }
  }

  func own(_ path: String) throws(LocalPostgresError) {
    guard case .other(_, let id, let group) = self else { return }
    guard unsafe chown(path, id, group) == 0 else {
      throw .directory(reason: unsafe String(cString: strerror(errno)))
    }
  }
}
