import TestSupport
import Testing

@testable import APNSSimulator

/// Visitors of the inbox who send more than they let it answer.
@Suite struct InboxFloodTests {
  /// Prints the bytes that the inbox took while nobody read, then the number of requests and answers.
  private static let script = """
    import socket, sys
    port, request, most = int(sys.argv[1]), sys.argv[2].encode(), 48 << 20
    request = request + b' HTTP/1.1\\r\\nHost: localhost\\r\\nx: ' + b'-' * 2000 + b'\\r\\n\\r\\n'
    visitor = socket.socket()
    visitor.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    visitor.connect(('127.0.0.1', port))
    visitor.settimeout(2)
    sent = 0
    try:
      while sent < most:
        sent += visitor.send((request * 40)[sent % len(request):])
    except socket.timeout:
      pass
    print(sent, flush=True)
    if 'wait' in sys.argv[2]:
      sys.exit()
    whole, found, tail = sent // len(request), 0, b''
    visitor.settimeout(60)
    while found < whole:
      some = visitor.recv(1 << 20)
      if not some:
        break
      tail = tail[-11:] + some
      found += tail.count(b'HTTP/1.1 200')
    print(whole, found)
    """

  private func run(_ request: String, _ inbox: InboxClient) async throws -> [Int] {
    let port = String(inbox.url.split(separator: ":").last ?? "")
    let output = try await Tool.runAsync("/usr/bin/python3", ["-c", Self.script, port, request])
      .output
    return output.split { $0.isWhitespace }.compactMap { Int($0) }
  }

  @Test func `what a visitor sends while its request waits stays with it`() async throws {
    let simulator = try RunningSimulator(["--inbox", "127.0.0.1:0"])
    defer { simulator.stop() }
    let inbox = try await InboxClient(simulator, "apns-simulator")
    let numbers = try await run("GET /messages?wait=5m", inbox)
    #expect(numbers.count == 1 && (1..<32 << 20).contains(numbers.first ?? 0), "\(numbers)")
    #expect(try inbox.call("/").status == 200)
  }

  @Test func `requests are answered as fast as the answers are read, and all of them`() async throws
  {
    let simulator = try RunningSimulator(["--inbox", "127.0.0.1:0"])
    defer { simulator.stop() }
    let inbox = try await InboxClient(simulator, "apns-simulator")
    let numbers = try await run("GET /page.css", inbox)
    try #require(numbers.count == 3, "\(numbers)")
    #expect((1..<32 << 20).contains(numbers[0]), "\(numbers)")
    #expect(numbers[1] > 16 && numbers[2] == numbers[1], "\(numbers)")
  }
}
