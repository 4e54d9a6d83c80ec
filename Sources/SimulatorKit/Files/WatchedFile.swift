import Glibc

/// A file of settings that may change while the simulator runs, and a watch on it.
///
/// The watch is on the directory, because editors and careful writers replace a file by renaming.
@safe package final class WatchedFile {
  package let path: String
  let watch: Int32
  /// Called when the file may have changed; changes of other files in its directory count too.
  package var onChange: () -> Void = {}

  package init(path: String) throws(FileError) {
    self.path = path
    watch = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
    guard watch >= 0 else { throw FileError("inotify_init1", path) }
    let slash = path.lastIndex(of: "/")
    let directory = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    let events = UInt32(IN_CLOSE_WRITE | IN_MOVED_TO)
    guard unsafe inotify_add_watch(watch, directory, events) >= 0 else {
      close(watch)
      throw FileError("inotify_add_watch", directory)
    }
  }

  deinit {
    close(watch)
  }

  func changed() {
    var events = [UInt8](repeating: 0, count: 4096)
    while unsafe Glibc.read(watch, &events, events.count) > 0 {}
    onChange()
  }
}
