import TestSupport
import Testing

@testable import PushClient

/// A server that answers with 5 MB.
struct LargeAnswer {
  private let process: LineProcess
  private let port: Int

  private static let script = """
    import http.server, ssl, sys, threading
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            self.send_response(200)
            self.end_headers()
            try:
                for _ in range(80): self.wfile.write(b"x" * 65536)
            except OSError: pass
        def log_message(self, *words): pass
    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[1], sys.argv[2])
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_port, flush=True)
    sys.stdin.read()
    """

  init() throws {
    let fixtures = try Fixtures.shared.get()
    process = try LineProcess(
      "/usr/bin/python3",
      ["-c", Self.script, fixtures.path("server.pem"), fixtures.path("server.key")])
    port = try #require(Int(process.firstLine), "the server printed \(process.firstLine)")
  }

  var url: String { "https://127.0.0.1:\(port)/token" }

  func stop() { process.stop() }
}
