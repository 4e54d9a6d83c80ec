import Glibc

/// Reading of directories that keeps the system's own words for what went wrong.
enum Disk {
  /// Why a system call failed.
  struct Failure: Error {
    let text: String

    init(_ code: CInt) {
      text = unsafe String(cString: strerror(code))
    }
  }

  /// The names in a directory, in no order.
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
