internal import Foundation
internal import Glibc
internal import Synchronization

/// A process that briefly outlives the caller, and removes everything that the caller leaves
/// behind.
///
/// It creates the directory, then waits for the end of a pipe whose other end only the caller
/// holds. However the caller ends, the kernel closes that end.
final class Guardian: Sendable {
  /// The cluster's directory, accessible to its owner only.
  let directory: String
  private let child: Child
  private let leash: ChildGuard

  /// Starts the guardian and waits until it has created the directory.
  static func start() async throws(LocalPostgresError) -> Guardian {
    let outcome = await Blocking.run { () throws(LocalPostgresError) in try Guardian() }
    return try outcome.get()
  }

  private init() throws(LocalPostgresError) {
    let (input, leash) = try ChildGuard.make()
    self.leash = leash
    let output = Pipe()
    child = try Child(
      ["/usr/bin/setsid", "--wait", "/bin/sh", "-c", Self.program], in: "/", input: input,
      output: output.fileHandleForWriting, keepsErrors: false)
    try? output.fileHandleForWriting.close()
    directory = Self.firstLine(of: output.fileHandleForReading)
    guard directory.hasPrefix("/tmp/") else {
      throw .directory(reason: "mktemp in /tmp failed")
    }
  }

  /// Reads no further than the line's end: `setsid` keeps its copy of the file open.
  private static func firstLine(of file: FileHandle) -> String {
    var bytes = Data()
    while !bytes.contains(UInt8(ascii: "\n")) {
      let more = file.availableData
      if more.isEmpty { break }
      bytes.append(more)
    }
    return String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
  }

  /// Lets the guardian clean up, and waits for its end.
  func dismiss() async {
    leash.letGo()
    _ = await child.waitForEnd()
  }

  /// The guardian's shell script: ends every process whose working directory is inside the
  /// directory. Process IDs in files are not used, since they may be stale and reused. SIGQUIT is
  /// Postgres' immediate shutdown. A killed postmaster leaves its pid file and a System V segment,
  /// whose ID is the second number of the file's seventh line.
  private static let program = """
    trap '' HUP INT TERM QUIT
    dir=$(mktemp -d /tmp/ridepulse-XXXXXX) || exit 1
    echo "$dir"
    exec >/dev/null
    cat
    inside() {
      find /proc -mindepth 2 -maxdepth 2 -name cwd \\( -lname "$dir" -o -lname "$dir/*" \\) \
        2>/dev/null | cut -d/ -f3
    }
    signal=QUIT
    round=0
    while pids=$(inside); [ -n "$pids" ] && [ "$round" -lt 200 ]; do
      [ "$round" -eq 60 ] && signal=KILL
      case "$round" in 0|60|1?0) kill -s "$signal" $pids 2>/dev/null ;; esac
      round=$((round + 1))
      sleep 0.05
    done
    segment=$(sed -n 7p "$dir/data/postmaster.pid" 2>/dev/null | awk '{ print $2 }')
    [ -n "$segment" ] && ipcrm -m "$segment" 2>/dev/null
    rm -rf "$dir"
    """
}

/// The caller's end of the pipe; the guardian acts when it is closed.
private final class ChildGuard: Sendable {
  private let descriptor: Mutex<Int32>

  private init(_ descriptor: Int32) {
    self.descriptor = Mutex(descriptor)
  }

  deinit { letGo() }

  /// Creates the pipe, close-on-exec from the start: a copy in any other child would keep the
  /// guardian waiting. It is a socket pair because Swift's Glibc module lacks `pipe2`.
  static func make() throws(LocalPostgresError) -> (input: FileHandle, leash: ChildGuard) {
    var ends: [Int32] = [-1, -1]
    let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    guard unsafe socketpair(AF_UNIX, type, 0, &ends) == 0 else {
      throw .directory(reason: unsafe String(cString: strerror(errno)))
    }
    return (FileHandle(fileDescriptor: ends[0], closeOnDealloc: true), ChildGuard(ends[1]))
  }

  func letGo() {
    descriptor.withLock { descriptor in
      if descriptor >= 0 { close(descriptor) }
      descriptor = -1
    }
  }
}
