internal import CSystem
internal import Glibc

/// The stream that systemd connects to the journal, as it names it in `JOURNAL_STREAM`.
package struct JournalStream: Equatable {
  let device: UInt64
  let inode: UInt64

  /// - Returns: Nil if the environment names none.
  package init?(_ environment: [String: String]) {
    let parts = environment["JOURNAL_STREAM"]?.split(separator: ":") ?? []
    guard parts.count == 2, let device = UInt64(parts[0]), let inode = UInt64(parts[1]) else {
      return nil
    }
    (self.device, self.inode) = (device, inode)
  }

  /// Whether standard error is this stream. The variable is inherited, the stream may be redirected.
  package var isStandardError: Bool {
    var status = stat()
    guard unsafe fstat(STDERR_FILENO, &status) == 0 else { return false }
    return device == UInt64(status.st_dev) && inode == UInt64(status.st_ino)
  }
}
