import Foundation
import Testing

@testable import SystemSupport

@Suite struct LineReaderTests {
  private func lines(_ bytes: [UInt8]) throws -> [String] {
    let url = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: url) }
    try Data(bytes).write(to: url)
    let reader = try LineReader(url.path)
    var lines: [String] = []
    while let line = try reader.next() { lines.append(String(decoding: line, as: UTF8.self)) }
    return lines
  }

  private func gzip(_ text: String) throws -> [UInt8] {
    let deflater = try #require(GzipDeflater())
    return deflater.deflated(Array(text.utf8), isLast: false) + deflater.deflated([], isLast: true)
  }

  @Test(arguments: [
    ("", []), ("a", ["a"]), ("a\n", ["a"]), ("a\n\nb", ["a", "", "b"]), ("\n", [""]),
  ])
  func plainAndCompressed(_ text: String, _ expected: [String]) throws {
    #expect(try lines(Array(text.utf8)) == expected)
    #expect(try lines(try gzip(text)) == expected)
  }

  @Test func linesAcrossPieces() throws {
    let expected = (0..<50_000).map { "line \($0) " + String(repeating: "x", count: $0 % 90) }
    let text = expected.joined(separator: "\n")
    #expect(try lines(Array(text.utf8)) == expected)
    #expect(try lines(try gzip(text)) == expected)
  }

  @Test func severalMembersAreOneText() throws {
    #expect(try lines(try gzip("a\nb") + gzip("c\n")) == ["a", "bc"])
  }

  @Test func damagedDataIsReported() throws {
    let good = try gzip(String(repeating: "some text\n", count: 1000))
    #expect(throws: RegularFile.Failure(description: "the gzip data ends too early")) {
      _ = try lines(Array(good.dropLast(20)))
    }
    var bad = good
    for index in 20..<40 where bad.indices.contains(index) { bad[index] = 0xff }
    #expect(throws: RegularFile.Failure.self) { _ = try lines(bad) }
    #expect(throws: RegularFile.Failure.self) { _ = try LineReader("/does/not/exist") }
  }
}
