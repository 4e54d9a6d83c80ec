import TestSupport

/// A server other than the intended one; it ends with this process.
final class WrongServer {
  let port: Int
  var url: String { "https://127.0.0.1:\(port)" }
  private let process: LineProcess

  /// Accepts connections and sends nothing.
  static func silent() throws -> WrongServer {
    try WrongServer(
      """
      import socket, sys
      s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(50)
      print(s.getsockname()[1], flush=True)
      sys.stdin.read()
      """, [])
  }

  /// Supports TLS with a simulator's certificate, but not HTTP/2.
  static func tls(_ directory: String, words: [String]) throws -> WrongServer {
    try WrongServer(
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
    process = try LineProcess("/usr/bin/python3", ["-c", script] + words)
    guard let port = Int(process.firstLine) else {
      throw TestFailure("not a port: \(process.firstLine)")
    }
    self.port = port
  }

  func stop() { process.stop() }
}
