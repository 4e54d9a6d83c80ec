import Foundation

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The queue on disk. One process writes it; others may read it.
struct QueueFile: Sendable {
  let folder: URL

  private var file: URL { folder.appendingPathComponent("queue.json") }
  private var broken: URL { folder.appendingPathComponent("queue.broken.json") }

  /// Returns the stored queue; nil if there is none, or none that this version reads.
  func read() -> CallQueue? {
    guard let data = try? Data(contentsOf: file),
      let queue = try? JSONDecoder().decode(CallQueue.self, from: data),
      queue.version == CallQueue.version
    else { return nil }
    return queue
  }

  /// Returns the stored queue. A file that can't be read is moved aside, for whoever wants to know why.
  func load() -> (queue: CallQueue, problem: KitEvent?) {
    if let queue = read() { return (queue, nil) }
    guard FileManager.default.fileExists(atPath: file.path) else { return (CallQueue(), nil) }
    do {
      try replace(broken, with: file)
      return (CallQueue(), .brokenFile(broken.path))
    } catch { return (CallQueue(), .notSaved("\(error)")) }
  }

  /// Writes the queue: after it returned, a crash of the phone keeps it.
  func save(_ queue: CallQueue) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    try Self.write(try encoder.encode(queue), to: file, in: folder)
  }

  /// Writes a file so that a reader sees the old content or the new one.
  static func write(_ data: Data, to file: URL, in folder: URL) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let new = folder.appendingPathComponent(".\(file.lastPathComponent).new")
    var attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
    #if os(iOS)
      // iOS also starts the app while the phone is locked.
      attributes[.protectionKey] = FileProtectionType.completeUntilFirstUserAuthentication
    #endif
    guard FileManager.default.createFile(atPath: new.path, contents: nil, attributes: attributes)
    else { throw CocoaError(.fileWriteUnknown) }
    let handle = try FileHandle(forWritingTo: new)
    try handle.write(contentsOf: data)
    try handle.synchronize()
    try handle.close()
    try replace(file, with: new)
    // The new name is in the folder.
    let descriptor = open(folder.path, O_RDONLY)
    if descriptor >= 0 {
      _ = fsync(descriptor)
      _ = close(descriptor)
    }
  }

  private func replace(_ target: URL, with source: URL) throws {
    try Self.replace(target, with: source)
  }

  private static func replace(_ target: URL, with source: URL) throws {
    guard rename(source.path, target.path) == 0 else {
      throw NSError(domain: NSPOSIXErrorDomain, code: Int(errno))
    }
  }
}
