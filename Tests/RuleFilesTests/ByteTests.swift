import Testing

@testable import RuleFiles

/// Files that a golden file cannot contain because of their bytes or their size.
@Suite struct ByteTests {
  @Test(arguments: [
    ("an empty file", "", "1:1: nothing in the file"),
    (
      "a byte order mark", "\u{feff}rulez: []\n", "1:1: unknown key \"rulez\" in a rule file"
    ),
    ("Windows line ends", "rules: []\r\nrulez: []\r\n", "2:1: unknown key \"rulez\""),
    (
      "a control character", "rules:\n  - name: ü\u{7}b\n",
      "2:12: the control character \"\\u{7}\"; expected text without it"
    ),
    (
      "a line separator within a message", "events: [\"a\u{2028}b\"]",
      "1:10: an entry of events is the text \"a\\u{2028}b\""
    ),
    (
      "65 levels", "rules: " + String(repeating: "[", count: 65),
      "1:72: a value more than 64 levels deep"
    ),
    (
      "a thousand levels", "rules: " + String(repeating: "{a: ", count: 1000),
      "a value more than 64 levels deep"
    ),
    (
      "a megabyte of letters", "rules: [" + String(repeating: "x", count: 1_000_000) + "]",
      "1:9: an entry of rules is the text \"xxx"
    ),
  ])
  func oddText(name: String, yaml: String, expected: String) throws {
    let first = try #require(problems(in: yaml).first)
    #expect(first.contains(expected), "\(name)")
    #expect(!first.contains("\n") && first.count < 400)
  }

  @Test(
    arguments: [
      ("rules: []\nstates: ä", [0xff, 0x41], "2:10: the byte 0xff"),
      ("", [0xc3], "1:1: the byte 0xc3"),
      ("a\nb ", [0xed, 0xa0, 0x80], "2:3: the byte 0xed"),
      ("a", [0], "1:2: the control character"),
    ] as [(String, [UInt8], String)])
  func whatIsNotUTF8(start: String, rest: [UInt8], expected: String) {
    let found = problems(in: [("a.yaml", Array(start.utf8) + rest)])
    #expect(found.count == 1)
    #expect(found.first?.hasPrefix("a.yaml:" + expected) == true, "\(found)")
  }

  @Test func tooLargeAFile() {
    let bytes = [UInt8](repeating: UInt8(ascii: "#"), count: RuleDirectory.fileSizeLimit + 1)
    #expect(
      problems(in: [("a.yaml", bytes)]) == [
        "a.yaml:1:1: a file of more than 1048576 bytes; expected its rules in several files"
      ])
    #expect(problems(in: [("a.yaml", Array(bytes.dropLast()))]).first?.contains("nothing") == true)
  }
}
