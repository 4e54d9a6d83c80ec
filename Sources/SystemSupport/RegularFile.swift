internal import CSystem
internal import Glibc

/// Reads files whose path comes from a setting: keys, certificates, rule files.
///
/// Such a path may lead to a named pipe, a device or a file that never ends. Opening a pipe blocks
/// until another process writes to it, and would block a reload forever.
package enum RegularFile {
  /// Why a file was not read.
  package struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reason without the path, such as `No such file or directory`.
    package let description: String

    package init(description: String) {
      self.description = description
    }
  }

  /// The maximum size, in bytes, of a file with a key or certificates. The system's bundle of all
  /// authorities has about 220 KB.
  package static let pemLimit = 4 << 20

  /// Returns all bytes of a regular file.
  ///
  /// - Throws: `Failure`, also if the file is not a regular one or has more bytes than `limit`.
  package static func read(_ path: String, limit: Int) throws(Failure) -> [UInt8] {
    let bytes = try start(of: path, limit: limit + 1)
    if bytes.count > limit {
      throw Failure(description: "it has more than \(limit) bytes")
    }
    return bytes
  }

  /// Returns the first bytes of a regular file, up to a limit.
  package static func start(of path: String, limit: Int) throws(Failure) -> [UInt8] {
    let file = try opened(path)
    defer { close(file.descriptor) }
    return try bytes(of: file.descriptor, size: file.size, limit: limit)
  }

  /// Opens a regular file for reading; the caller closes it.
  static func opened(_ path: String) throws(Failure) -> (descriptor: Int32, size: Int) {
    if path.utf8.contains(0) { throw Failure(description: "the path holds a NUL") }
    let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY
    let descriptor = unsafe open(path, flags)
    guard descriptor >= 0 else { throw failure(errno) }
    var status = stat()
    let problem =
      unsafe fstat(descriptor, &status) != 0
      ? failure(errno)
      : otherKind(status.st_mode).map { Failure(description: "it is \($0), not a regular file") }
    if let problem {
      close(descriptor)
      throw problem
    }
    return (descriptor, Int(status.st_size))
  }

  /// Returns the next bytes of an open file, at most `size`; none at the end.
  static func piece(of descriptor: Int32, size: Int) throws(Failure) -> [UInt8] {
    try bytes(of: descriptor, size: size - 1, limit: size)
  }

  /// Returns the path of the file that a path leads to through symbolic links; nil if there is none.
  package static func target(of path: String) -> String? {
    guard !path.utf8.contains(0), let target = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(target) }
    return unsafe String(cString: target)
  }

  private static func bytes(
    of descriptor: Int32, size: Int, limit: Int
  ) throws(Failure) -> [UInt8] {
    // The file may have grown since, and files of /proc have size 0.
    var bytes = [UInt8](repeating: 0, count: min(limit, max(size, 0) + 1))
    var count = 0
    while count < limit {
      if count == bytes.count { bytes += [UInt8](repeating: 0, count: min(limit - count, 65_536)) }
      let got = unsafe bytes.withUnsafeMutableBytes { buffer in
        unsafe Glibc.read(
          descriptor, buffer.baseAddress?.advanced(by: count), buffer.count - count)
      }
      if got < 0, errno == EINTR { continue }
      guard got >= 0 else { throw failure(errno) }
      if got == 0 { break }
      count += got
    }
    bytes.removeLast(bytes.count - count)
    return bytes
  }

  /// Returns the kind of the file; nil for a regular file.
  private static func otherKind(_ mode: mode_t) -> String? {
    switch mode & S_IFMT {
    case S_IFREG: nil
    case S_IFDIR: "a directory"
    case S_IFIFO: "a named pipe"
    case S_IFSOCK: "a socket"
    case S_IFCHR, S_IFBLK: "a device"
    default: "no file"
    }
  }

  private static func failure(_ code: Int32) -> Failure {
    Failure(description: SystemError.text(code))
  }
}
