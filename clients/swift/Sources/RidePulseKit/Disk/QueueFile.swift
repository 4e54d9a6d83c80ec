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

  /// What is stored.
  enum Content {
    case nothing
    case queue(CallQueue)
    /// It can't be read now: iOS has started the app before the phone was unlocked for the first time.
    case locked(String)
    /// It was read, and this version can't use it.
    case broken
  }

  func read() -> Content {
    let data: Data
    do { data = try Data(contentsOf: file) } catch {
      return FileManager.default.fileExists(atPath: file.path) ? .locked("\(error)") : .nothing
    }
    guard let queue = try? JSONDecoder().decode(CallQueue.self, from: data),
      queue.version == CallQueue.version
    else { return .broken }
    return .queue(queue)
  }

  /// Returns the stored queue, nil if it can't be read now. A broken file is moved aside, for whoever wants to
  /// know why.
  func load() -> (queue: CallQueue?, problem: KitEvent?) {
    switch read() {
    case .nothing: return (CallQueue(), nil)
    case .queue(let queue): return (queue, nil)
    case .locked(let reason): return (nil, .notRead(reason))
    case .broken:
      do {
        try replace(broken, with: file)
        return (CallQueue(), .brokenFile(broken.path))
      } catch { return (CallQueue(), .notSaved("\(error)")) }
    }
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
