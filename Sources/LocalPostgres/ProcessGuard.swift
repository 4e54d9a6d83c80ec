internal import Foundation

/// Kills the services that a process leaves behind, however it ends.
///
/// A shell waits for the end of a pipe whose other end only this process holds, and then kills each
/// registered process that still runs one of the given binaries.
package final class ProcessGuard: Sendable {
  private let input = Pipe()
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
    let shell = Process()
    shell.executableURL = URL(fileURLWithPath: "/bin/sh")
    shell.arguments = ["-c", Self.program, binary]
    shell.standardInput = input
    shell.standardOutput = FileHandle.nullDevice
    shell.standardError = FileHandle.nullDevice
    try? shell.run()
  }

  /// Registers a process to be ended together with this one.
  package func hold(_ pid: Int32) {
    try? input.fileHandleForWriting.write(contentsOf: Data("\(pid)\n".utf8))
  }
}
