internal import Foundation

/// Kills the services that a process leaves behind, however that ends.
///
/// A shell waits for the end of a pipe whose other end only this process holds, and then ends each
/// number that it was told, where that is still one of the binaries meant.
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

  /// A leash that holds nobody yet.
  ///
  /// - Parameter binary: the path of the binary that may be ended, or a pattern of the shell's for
  ///   several.
  package init(binary: String) {
    let shell = Process()
    shell.executableURL = URL(fileURLWithPath: "/bin/sh")
    shell.arguments = ["-c", Self.program, binary]
    shell.standardInput = input
    shell.standardOutput = FileHandle.nullDevice
    shell.standardError = FileHandle.nullDevice
    try? shell.run()
  }

  /// Ends this process with ours.
  package func hold(_ pid: Int32) {
    try? input.fileHandleForWriting.write(contentsOf: Data("\(pid)\n".utf8))
  }
}
