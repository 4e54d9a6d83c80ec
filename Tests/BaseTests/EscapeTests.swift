import Base
import Testing

@Suite struct EscapeTests {
  /// Untrusted text, and its form on one line.
  private static let lines: [(String, String)] = [
    ("Größe → 漢字 👩‍👩‍👧", "Größe → 漢字 👩‍👩‍👧"),
    ("a\nFORGED", #"a\u{a}FORGED"#), ("a\r\nb", #"a\u{d}\u{a}b"#), ("a\tb", #"a\u{9}b"#),
    ("\u{1b}[2J\u{1b}]0;x\u{7}", #"\u{1b}[2J\u{1b}]0;x\u{7}"#), ("\u{9b}31m", #"\u{9b}31m"#),
    ("\u{85}\u{2028}\u{2029}", #"\u{85}\u{2028}\u{2029}"#), ("\u{7f}\0", #"\u{7f}\u{0}"#),
    ("\u{202e}fdp.exe\u{202c}", #"\u{202e}fdp.exe\u{202c}"#),
    ("\u{2066}x\u{2069}\u{200f}", #"\u{2066}x\u{2069}\u{200f}"#),
    ("\u{200b}\u{feff}\u{ad}", #"\u{200b}\u{feff}\u{ad}"#),
    ("\u{e0041}\u{600}\u{1b}", #"\u{e0041}\u{600}\u{1b}"#),
  ]

  @Test(arguments: lines) func `shown text contains no terminal control characters`(
    text: String, shown: String
  ) {
    #expect(Escape.line(text).unicodeScalars.elementsEqual(shown.unicodeScalars))
    #expect(Escape.line(shown) == shown, "what is escaped stays as it is")
  }

  @Test func `a text of several lines keeps them, and tabs`() {
    #expect(Escape.lines("a\tb\r\n\u{1b}c\n") == "a\tb\\u{d}\n\\u{1b}c\n")
  }

  /// One Character each, which hides the scalar to escape.
  private static let hidden = [
    "\u{600}<", "<\u{338}", "<\u{200d}", "<\u{fe0f}", "\u{1f3fb}<\u{1f3fb}", "\u{110bd}</script",
    "<!--\u{301}", "\u{600}-->", "&\u{301}amp;", "\u{2028}\u{301}",
  ]

  @Test(arguments: hidden) func `JSON in a script holds no markup, and means the same`(text: String)
  {
    let json = String(decoding: JSONValue.string(text).json, as: UTF8.self)
    let shown = Escape.jsonInHTML(json)
    for byte in "<>&".utf8 { #expect(!shown.utf8.contains(byte), "\(shown)") }
    #expect(!shown.unicodeScalars.contains { $0.isUnprintable })
    guard case .string(let back) = JSONValue(json: shown.utf8) else {
      Issue.record("no JSON: \(shown)")
      return
    }
    #expect(back.unicodeScalars.elementsEqual(text.unicodeScalars))
  }

  @Test func `JSON for a terminal means the same`() {
    let text = lines.map(\.0).joined()
    let json = String(decoding: JSONValue.object(["a": .string(text)]).json, as: UTF8.self)
    let shown = Escape.json(json)
    #expect(!shown.unicodeScalars.contains { $0.isUnprintable })
    guard case .string(let back) = JSONValue(json: shown.utf8)?.value(at: ["a"]) else {
      Issue.record("no JSON: \(shown)")
      return
    }
    #expect(back.unicodeScalars.elementsEqual(text.unicodeScalars))
    #expect(Escape.json("{\n\t\"a\": 1\r\n}\n") == "{\n\t\"a\": 1\r\n}\n")
  }

  @Test func `a reason is short, on one line and without NUL`() {
    #expect("a\nb\r\nc\0d\u{2028}e".brief(bytes: 100) == "a b  cd e")
    #expect("ab\u{301}".brief(bytes: 3) == "ab", "no half of a scalar")
    let zalgo = "a" + String(repeating: "\u{301}", count: 100_000)
    #expect(zalgo.count == 1 && zalgo.brief(bytes: 300).utf8.count <= 300)
  }

  private var lines: [(String, String)] { Self.lines }

  /// Vectors of FIPS 180-4, and lengths around that of a block.
  @Test(arguments: [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
    (
      String(repeating: "a", count: 1_000_000),
      "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
    ),
  ]) func `SHA-256`(text: String, digest: String) {
    let hex = SHA256.digest(text.utf8).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
    #expect(hex.joined() == digest)
  }
}
