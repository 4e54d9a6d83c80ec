import Foundation
import LocalStack
import Glibc

/// All processes whose working directory is in a folder: a server with its children, also those
/// that an earlier process started.
struct ProcessTree: Hashable, Sendable {
  let folder: String

  /// The processes that run now.
  var ids: [Int32] {
    let files = FileManager.default
    return ((try? files.contentsOfDirectory(atPath: "/proc")) ?? []).compactMap { Int32($0) }
      .filter { id in
        let directory = try? files.destinationOfSymbolicLink(atPath: "/proc/\(id)/cwd")
        return directory == folder || directory?.hasPrefix(folder + "/") == true
      }
  }

  func send(signal: Int32) {
    for id in ids { kill(id, signal) }
  }

  /// Sends SIGKILL until none is left: a process may start another one meanwhile.
  func end(limit: Duration) throws(LocalStackError) {
    let end = ContinuousClock.now + limit
    while ContinuousClock.now < end {
      if ids.isEmpty { return }
      send(signal: SIGKILL)
      usleep(5_000)
    }
    throw .tooSlow(what: "the end of the processes in \(folder)", output: "")
  }

  /// Returns the processes whose title contains a word.
  func ids(titled word: String) -> [Int32] {
    ids.filter { id in
      let title = FileManager.default.contents(atPath: "/proc/\(id)/cmdline") ?? Data()
      return String(decoding: title, as: UTF8.self).contains(word)
    }
  }
}
