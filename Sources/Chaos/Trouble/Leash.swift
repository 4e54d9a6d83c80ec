import Foundation
import LocalPostgres

/// Where `ridepulse` is.
enum ServiceBinary {
  static func path() throws -> String { try LocalBinary.path("ridepulse") }
}

/// Kills the nodes that this process leaves behind, however it ends.
///
/// A shell waits for the end of a pipe whose other end only this process holds, and then ends each
/// number that it was told, where that is still this build's binary.
final class Leash: Sendable {
  static let shared = Leash()

  private let input = Pipe()
  private static let program = """
    trap '' HUP INT TERM QUIT
    pids=
    while read -r pid; do pids="$pids $pid"; done
    for pid in $pids; do
      if [ "$(readlink "/proc/$pid/exe")" = "$0" ]; then kill -9 "$pid"; fi
    done
    """

  private init() {
    let shell = Process()
    shell.executableURL = URL(fileURLWithPath: "/bin/sh")
    shell.arguments = ["-c", Self.program, (try? ServiceBinary.path()) ?? ""]
    shell.standardInput = input
    shell.standardOutput = FileHandle.nullDevice
    shell.standardError = FileHandle.nullDevice
    try? shell.run()
  }

  func hold(_ pid: Int32) {
    try? input.fileHandleForWriting.write(contentsOf: Data("\(pid)\n".utf8))
  }
}
