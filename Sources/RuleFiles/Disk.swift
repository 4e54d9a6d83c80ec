import Glibc

/// Directory and file reading that keeps the system's own words for what went wrong.
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

  /// The first bytes of a file, up to a limit.
  static func bytes(of path: String, limit: Int) throws(Failure) -> [UInt8] {
    // Without O_NONBLOCK a named pipe would hold the loader up for ever.
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw Failure(errno) }
    defer { close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw Failure(errno) }
    switch status.st_mode & S_IFMT {
    case S_IFREG: break
    case S_IFDIR: throw Failure(EISDIR)
    default: throw Failure(EINVAL)
    }
    var bytes = [UInt8](repeating: 0, count: min(limit, Int(status.st_size) + 1))
    var count = 0
    while count < limit {
      if count == bytes.count { bytes += [UInt8](repeating: 0, count: min(limit - count, 65_536)) }
      let got = unsafe bytes.withUnsafeMutableBytes { buffer in
        unsafe read(descriptor, buffer.baseAddress?.advanced(by: count), buffer.count - count)
      }
      if got < 0, errno == EINTR { continue }
      guard got >= 0 else { throw Failure(errno) }
      if got == 0 { break }
      count += got
    }
    return Array(bytes.prefix(count))
  }
}
