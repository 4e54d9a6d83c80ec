internal import Foundation
internal import Glibc
internal import Synchronization

/// A process that briefly outlives the caller, and removes everything that the caller leaves
/// behind.
///
/// It creates the directory, then waits for the end of a pipe whose other end only the caller
/// holds. However the caller ends, the kernel closes that end.
package final class OrphanReaper: Sendable {
  /// The cluster's directory, accessible to its owner only.
  package let directory: String
  private let child: ChildProcess
  private let lifeline: Lifeline

  /// Starts the reaper and waits until it has created the directory.
  package static func start() async throws(LocalStackError) -> OrphanReaper {
    let outcome = await Blocking.run { () throws(LocalStackError) in try OrphanReaper() }
    return try outcome.get()
  }

  private init() throws(LocalStackError) {
    let (input, lifeline) = try Lifeline.make()
    self.lifeline = lifeline
    child = try ChildProcess(
      ["/usr/bin/setsid", "--wait", "/bin/sh", "-c", Self.program], in: "/",
      environment: ChildProcess.bareEnvironment, input: .descriptor(input), output: .pipe,
      errors: .null)
    let line = (try? child.waitForOutput("\n")) ?? ""
    directory = String(line.prefix { $0 != "\n" })
    guard directory.hasPrefix("/tmp/") else {
      throw .directory(reason: "mktemp in /tmp failed")
    }
  }

  /// Lets the reaper clean up, and waits for its end.
  package func dismiss() async {
    lifeline.close()
    await child.waitForEnd()
  }

  /// The reaper's shell script: ends every process whose working directory is inside the
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
    for file in "$dir"/data/postmaster.pid "$dir"/*/data/postmaster.pid; do
      segment=$(sed -n 7p "$file" 2>/dev/null | awk '{ print $2 }')
      [ -n "$segment" ] && ipcrm -m "$segment" 2>/dev/null
    done
    rm -rf "$dir"
    """
}

/// The caller's end of the pipe; the reaper acts when it is closed.
private final class Lifeline: Sendable {
  private let descriptor: Mutex<Int32>

  private init(_ descriptor: Int32) {
    self.descriptor = Mutex(descriptor)
  }

  deinit { close() }

  /// Creates the pipe, close-on-exec from the start: a copy in any other child would keep the
  /// reaper waiting. It is a socket pair because Swift's Glibc module lacks `pipe2`.
  static func make() throws(LocalStackError) -> (input: Int32, lifeline: Lifeline) {
    var ends: [Int32] = [-1, -1]
    let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    guard unsafe socketpair(AF_UNIX, type, 0, &ends) == 0 else {
      throw .directory(reason: unsafe String(cString: strerror(errno)))
    }
    return (ends[0], Lifeline(ends[1]))
  }

  func close() {
    descriptor.withLock { descriptor in
      if descriptor >= 0 { Glibc.close(descriptor) }
      descriptor = -1
    }
  }
}

/// Kills the services that a process leaves behind, however it ends.
///
/// A shell waits for the end of a pipe whose other end only this process holds, and then kills each
/// registered process that still runs one of the given binaries.
package final class ProcessGuard: Sendable {
  private let shell: ChildProcess?

  private static let program = """
    trap '' HUP INT TERM QUIT
    pids=
    while read -r pid; do pids="$pids $pid"; done
    for pid in $pids; do
      # A process that forbids memory dumps shows its path to root only.
      exe=$(readlink "/proc/$pid/exe") || exe=/$(cat "/proc/$pid/comm")
      case $exe in $0) kill -9 "$pid" ;; esac
    done
    """

  /// Creates a guard without processes.
  ///
  /// - Parameter binary: The path of the binary whose processes may be killed, or a shell pattern
  ///   for several.
  package init(binary: String) {
    shell = try? ChildProcess(
      ["/bin/sh", "-c", Self.program, binary], input: .pipe, output: .null, errors: .null)
  }

  /// Registers a process to be ended together with this one.
  package func hold(_ pid: Int32) {
    shell?.write("\(pid)\n")
  }
}
