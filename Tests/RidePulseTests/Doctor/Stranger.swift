import Foundation
import LocalPostgres

/// A server other than the intended one; it ends with this process.
final class Stranger {
  let port: Int
  var url: String { "https://127.0.0.1:\(port)" }
  private let process = Process()
  private let input = Pipe()

  /// Accepts connections and sends nothing.
  static func silent() throws -> Stranger {
    try Stranger(
      """
      import socket, sys
      s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(50)
      print(s.getsockname()[1], flush=True)
      sys.stdin.read()
      """, [])
  }

  /// Supports TLS with a simulator's certificate, but not HTTP/2.
  static func tls(_ directory: String, words: [String]) throws -> Stranger {
    try Stranger(
      """
      import subprocess, sys
      line = ["openssl", "s_server", "-accept", "127.0.0.1:0", "-naccept", "100",
        "-cert", sys.argv[1] + "/server.pem", "-key", sys.argv[1] + "/server.key"] + sys.argv[2:]
      child = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True)
      for text in child.stdout:
        if text.startswith("ACCEPT"):
          print(text.split(":")[-1].strip(), flush=True)
          break
      sys.stdin.read()
      child.kill()
      """, [directory] + words)
  }

  private init(_ script: String, _ words: [String]) throws {
    process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
    process.arguments = ["-c", script] + words
    let output = Pipe()
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    guard let port = Int(line.split(separator: "\n").first ?? "") else {
      process.terminate()
      throw TestFailure("the stranger did not start: \(line)")
    }
    self.port = port
  }

  func stop() {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
  }
}
