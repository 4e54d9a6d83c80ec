import Glibc
import SystemSupport

/// Reads directories, keeping the system's message if a call fails.
enum Disk {
  /// The message of a failed system call.
  struct Failure: Error {
    let text: String

    init(_ code: CInt) {
      text = SystemError.text(code)
    }
  }

  /// Returns the names in a directory, in no particular order.
  static func names(in directory: String) throws(Failure) -> [String] {
    guard let stream = unsafe opendir(directory) else { throw Failure(errno) }
    defer { unsafe _ = closedir(stream) }
    var names: [String] = []
    while true {
      errno = 0
      guard let entry = unsafe readdir(stream) else { break }
      let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { unsafe Array($0) }
      names.append(String(decoding: name.prefix { $0 != 0 }, as: UTF8.self))
    }
    guard errno == 0 else { throw Failure(errno) }
    return names
  }
}
