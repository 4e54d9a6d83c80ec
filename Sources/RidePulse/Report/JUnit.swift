/// Results as JUnit's XML, which CI servers read, with file and line of each test as pytest writes
/// them.
struct JUnit {
  struct Suite {
    var name: String
    var cases: [Case]
  }

  struct Case {
    var name: String
    /// Where the test is written.
    var location: (file: String, line: Int)?
    var failures: [Failure] = []
  }

  struct Failure {
    var kind: String
    var message: String
    var details: String
  }

  var suites: [Suite]

  var text: String {
    let all = suites.flatMap(\.cases)
    var lines = [
      #"<?xml version="1.0" encoding="UTF-8"?>"#,
      #"<testsuites name="ridepulse" \#(Self.counts(all)) errors="0">"#,
    ]
    for suite in suites {
      lines.append(
        #"  <testsuite name="\#(XML.text(suite.name))" \#(Self.counts(suite.cases)) "#
          + #"errors="0" skipped="0" time="0">"#)
      lines += suite.cases.map { Self.text($0, of: suite) }
      lines.append("  </testsuite>")
    }
    return (lines + ["</testsuites>"]).joined(separator: "\n")
  }

  private static func counts(_ cases: [Case]) -> String {
    #"tests="\#(cases.count)" failures="\#(cases.count { !$0.failures.isEmpty })""#
  }

  private static func text(_ test: Case, of suite: Suite) -> String {
    var head = #"    <testcase classname="\#(XML.text(suite.name))" name="\#(XML.text(test.name))""#
    if let location = test.location {
      head += #" file="\#(XML.text(location.file))" line="\#(location.line)""#
    }
    head += #" time="0""#
    if test.failures.isEmpty { return head + "/>" }
    let failures = test.failures.map { failure in
      #"      <failure type="\#(XML.text(failure.kind))" message="\#(XML.text(failure.message))">"#
        + XML.text(failure.details) + "</failure>"
    }
    return ([head + ">"] + failures + ["    </testcase>"]).joined(separator: "\n")
  }
}

/// Text within XML 1.0.
enum XML {
  /// Escapes markup; characters that XML has no way to write become U+FFFD.
  static func text(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "\n", "\t": result.unicodeScalars.append(scalar)
      case _ where scalar.value < 0x20 || scalar.value == 0xfffe || scalar.value == 0xffff:
        result += "\u{fffd}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
