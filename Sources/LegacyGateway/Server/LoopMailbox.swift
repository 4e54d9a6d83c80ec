internal import Glibc
internal import RideCore
internal import Synchronization

/// What the desk has answered, and what the world wants, for the server's thread.
enum LoopMessage: Sendable {
  /// Pushes of connections, so many of each, were to be committed.
  case taken([(connection: Int, count: Int)], Result<[LegacyCommitResult], any Error>)
  /// What became of pushes that are watched.
  case verdicts([LegacyReceipt], Result<[PushID: LegacyVerdict], any Error>)
  /// Phones to tell on a connection of the feedback port.
  case disabled(connection: Int, Result<[DisabledPhone], any Error>)
  /// What was told is noted.
  case forgotten(connection: Int, Result<Void, any Error>)
  /// Finish and end.
  case stop
}

/// The only thing that others and the server's thread share.
final class LoopMailbox: Sendable {
  /// The file to poll for reading.
  let descriptor: Int32
  private let signal: Int32
  private let posts = Mutex<[LoopMessage]>([])

  init() throws(GatewayError) {
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else { throw .system("pipe") }
    (descriptor, signal) = (ends[0], ends[1])
    for end in ends {
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
    }
  }

  deinit {
    close(descriptor)
    close(signal)
  }

  func put(_ post: LoopMessage) {
    let isFirst = posts.withLock { posts in
      posts.append(post)
      return posts.count == 1
    }
    var byte: UInt8 = 1
    if isFirst { unsafe _ = write(signal, &byte, 1) }
  }

  func collect() -> [LoopMessage] {
    var bytes = [UInt8](repeating: 0, count: 64)
    // Before the posts are taken: whoever comes between the two rings again.
    unsafe _ = read(descriptor, &bytes, bytes.count)
    return posts.withLock { posts in
      defer { posts = [] }
      return posts
    }
  }
}
