import Testing

@testable import SimulatorKit

@Suite struct HTTP1ParserTests {
  private func parse(_ text: String) -> HTTP1Parser.Progress {
    HTTP1Parser().parse(Array(text.utf8))
  }

  private static let head = "POST /token HTTP/1.1\r\nHost: x\r\n"

  @Test func `a request has method, path, headers and body`() throws {
    let text = Self.head + "Content-Length: 3\r\n\r\nabcNEXT"
    guard case .request(let request, let end, let isLast) = parse(text) else {
      Issue.record("no request")
      return
    }
    #expect(request.method == "POST")
    #expect(request.path == "/token")
    #expect(request.value("host") == "x")
    #expect(request.body == Array("abc".utf8))
    #expect(end == text.utf8.count - 4)
    #expect(!isLast)
  }

  @Test func `a body may come in chunks`() {
    let text = Self.head + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n"
    guard case .request(let request, let end, _) = parse(text) else {
      Issue.record("no request")
      return
    }
    #expect(request.body == Array("abcde".utf8))
    #expect(end == text.utf8.count)
  }

  @Test func `each part of a request is incomplete`() {
    let text = Self.head + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
    for count in 0..<text.utf8.count {
      let part = Array(text.utf8.prefix(count))
      #expect(HTTP1Parser().parse(part) == .incomplete, "\(count)")
    }
  }

  @Test(arguments: ["close", "Close"])
  func `a client may end the connection`(word: String) {
    guard case .request(_, _, let isLast) = parse(Self.head + "Connection: \(word)\r\n\r\n") else {
      Issue.record("no request")
      return
    }
    #expect(isLast)
  }

  @Test(arguments: [
    ("x\r\n\r\n", "no request line"), ("GET / FTP/1\r\n\r\n", "no request line"),
    (head + "nonsense\r\n\r\n", "a header without colon"),
    (head + "content-length: -1\r\n\r\n", "a wrong content-length"),
    (head + "content-length: 70000\r\n\r\n", "a body too large"),
    (head + "transfer-encoding: chunked\r\n\r\nx\r\n", "a wrong chunk"),
  ])
  func `what is not HTTP is named`(text: String, problem: String) {
    #expect(parse(text) == .malformed(problem))
  }
}
