internal import CSystem
internal import Glibc

/// Writes a file that a command was asked for, as a shell's redirection would, but completely or not
/// at all.
///
/// A regular file is replaced when the new one is complete: through symbolic links, with its mode and
/// owner. Until then the new file has no name if the file system allows that, so a process that is
/// killed leaves nothing. Anything else, such as a device or a pipe, is written to directly.
package final class OutputFile {
  package struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    init(_ code: Int32) { description = SystemError.text(code) }
    init(description: String) { self.description = description }
  }

  /// Who may read a file that did not exist; one that did keeps its mode.
  package enum Readers: Sendable {
    /// As the umask allows.
    case usual
    /// The owner, because the file contains data of customers.
    case owner

    fileprivate var mode: mode_t { self == .usual ? 0o666 : 0o600 }
  }

  private let descriptor: Int32
  /// The file that `commit` replaces; nil if the output is written to directly.
  private let target: String?
  /// The name of the new file; nil while it has none.
  private var temporary: String?

  /// - Throws: `Failure` if the file can't be written; nothing has changed then.
  package init(path: String, readers: Readers) throws(Failure) {
    if path.utf8.contains(0) { throw Failure(description: "the path holds a NUL") }
    var status = stat()
    let exists = unsafe stat(path, &status) == 0
    if !exists, errno != ENOENT { throw Failure(errno) }
    if exists, status.st_mode & S_IFMT == S_IFDIR { throw Failure(EISDIR) }
    if exists, let own = Self.standardStream(status) {
      // The shell opened it, and may append to it.
      (descriptor, target) = (own, nil)
      return
    }
    if exists, status.st_mode & S_IFMT != S_IFREG {
      (descriptor, target) = (try Self.opened(path, O_WRONLY, 0), nil)
      return
    }
    let target = try Self.target(of: path)
    do throws(Failure) {
      (descriptor, temporary) = try Self.temporaryFile(for: target, mode: readers.mode)
    } catch {
      // A directory that refuses new files can contain a file that may be written.
      guard exists else { throw error }
      (descriptor, self.target) = (try Self.opened(target, O_WRONLY | O_TRUNC, 0), nil)
      return
    }
    self.target = target
    if exists {
      // The owner first: a change of owner clears bits of the mode.
      _ = fchown(descriptor, status.st_uid, status.st_gid)
      _ = fchmod(descriptor, status.st_mode & 0o7777)
    }
  }

  deinit {
    close(descriptor)
    if let temporary { unsafe unlink(temporary) }
  }

  package func write(_ bytes: [UInt8]) throws(Failure) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { buffer in
        unsafe Glibc.write(descriptor, buffer.baseAddress, buffer.count)
      }
      if count < 0, errno == EINTR { continue }
      if count < 0 { throw Failure(errno) }
      rest = rest.dropFirst(count)
    }
  }

  /// Puts the complete file in the place of the former one.
  package func commit() throws(Failure) {
    guard let target else { return }
    guard fsync(descriptor) == 0 else { throw Failure(errno) }
    var linked = temporary
    if linked == nil { linked = try link(next: target) }
    guard let name = linked else { return }
    temporary = name
    guard unsafe rename(name, target) == 0 else {
      throw errno == EBUSY
        ? Failure(
          description: "it is a mount point, which can't be replaced; write to another file")
        : Failure(errno)
    }
    temporary = nil
  }

  /// Gives the unnamed file a name.
  private func link(next target: String) throws(Failure) -> String {
    let name = Self.freshName(next: target)
    guard
      unsafe linkat(AT_FDCWD, "/proc/self/fd/\(descriptor)", AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0
    else { throw Failure(errno) }
    return name
  }

  private static func freshName(next target: String) -> String {
    "\(folder(of: target))/.ridepulse-\(getpid())-\(UInt64.random(in: 0...UInt64.max)).partial"
  }

  private static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  private static func temporaryFile(
    for target: String, mode: mode_t
  ) throws(Failure) -> (Int32, String?) {
    let folder = folder(of: target)
    // Without /proc a file without a name can't be given one.
    if unsafe access("/proc/self/fd", X_OK) == 0 {
      let unnamed = unsafe open(folder, O_RDWR | O_CLOEXEC | ridepulse_tmpfile_flag(), mode)
      if unnamed >= 0 { return (unnamed, nil) }
    }
    let name = freshName(next: target)
    return (try opened(name, O_RDWR | O_CREAT | O_EXCL, mode), name)
  }

  /// Returns the path that symbolic links lead to; the file need not exist.
  private static func target(of path: String) throws(Failure) -> String {
    if let target = RegularFile.target(of: path) { return target }
    var path = path
    for _ in 0..<40 {
      var bytes = [UInt8](repeating: 0, count: 4096)
      let count = unsafe bytes.withUnsafeMutableBytes { buffer in
        unsafe buffer.bindMemory(to: CChar.self).baseAddress.map {
          unsafe readlink(path, $0, buffer.count)
        } ?? -1
      }
      if count < 0 { return path }
      let link = String(decoding: bytes.prefix(count), as: UTF8.self)
      path = link.hasPrefix("/") ? link : "\(folder(of: path))/\(link)"
    }
    throw Failure(ELOOP)
  }

  private static func opened(
    _ path: String, _ flags: Int32, _ mode: mode_t
  ) throws(Failure) -> Int32 {
    let descriptor = unsafe open(path, flags | O_CLOEXEC | O_NOCTTY, mode)
    guard descriptor >= 0 else { throw Failure(errno) }
    return descriptor
  }

  /// Returns a copy of standard output or standard error, if the path leads to it.
  private static func standardStream(_ status: stat) -> Int32? {
    for stream in [STDOUT_FILENO, STDERR_FILENO] {
      var own = stat()
      guard unsafe fstat(stream, &own) == 0, own.st_dev == status.st_dev,
        own.st_ino == status.st_ino
      else { continue }
      let copy = fcntl(stream, F_DUPFD_CLOEXEC, 3)
      if copy >= 0 { return copy }
    }
    return nil
  }
}
