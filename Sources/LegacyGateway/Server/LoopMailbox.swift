internal import Glibc
internal import RideCore
internal import Synchronization

/// A message for the server's thread: an answer of the store, or a request to stop.
enum LoopMessage: Sendable {
  /// The result of committing pushes, with the number of pushes of each connection.
  case taken([(connection: Int, count: Int)], Result<[LegacyCommitResult], any Error>)
  /// The verdicts on the pushes that were asked about.
  case verdicts([LegacyReceipt], Result<[PushID: LegacyVerdict], any Error>)
  /// The phones to report on a connection of the feedback port.
  case disabled(connection: Int, Result<[DisabledPhone], any Error>)
  /// The result of recording phones as reported.
  case forgotten(connection: Int, Result<Void, any Error>)
  /// Finish and end.
  case stop
}

/// The only state shared between the server's thread and other threads.
final class LoopMailbox: Sendable {
  /// The descriptor to poll for reading.
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
    // The pipe is drained before the messages are taken: a message put in between signals again.
    unsafe _ = read(descriptor, &bytes, bytes.count)
    return posts.withLock { posts in
      defer { posts = [] }
      return posts
    }
  }
}
