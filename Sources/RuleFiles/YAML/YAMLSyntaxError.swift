import Base
import RideCore

/// A syntax error of libyaml, translated into a message that helps.
struct YAMLSyntaxError {
  let problem: String
  let context: String
  /// The location where libyaml detected the error.
  let location: SourceLocation
  /// The start of the construct that libyaml was parsing.
  let start: SourceLocation?
  let source: SourceText

  var fault: YAMLFault {
    barePlaceholder ?? badCharacter ?? badStructure
      ?? YAMLFault(
        location: location,
        found: "invalid YAML: " + (context.isEmpty ? "" : context + ", ") + problem,
        expected: "valid YAML")
  }

  /// `title: {{ride.id}} is here`: YAML parses the braces as a mapping.
  private var barePlaceholder: YAMLFault? {
    let rest = source.line(location.line).unicodeScalars.dropFirst(location.column - 1)
    if rest.starts(with: "{{".unicodeScalars) { return .barePlaceholder(at: location) }
    for number in Set([location.line, location.line - 1, start?.line ?? location.line]).sorted() {
      let line = Array(source.line(number).unicodeScalars)
      for column in line.indices.dropFirst(2)
      where line[column...].starts(with: "{{".unicodeScalars) && line[column - 1] == " "
        && (line[column - 2] == ":" || line[column - 2] == "-")
      {
        return .barePlaceholder(at: SourceLocation(line: number, column: column + 1))
      }
    }
    return nil
  }

  private var badCharacter: YAMLFault? {
    let line = Array(source.line(location.line).unicodeScalars)
    let character = location.column <= line.count ? line[location.column - 1] : nil
    let name = character.map { quoted(String($0)) } ?? "the end of the line"
    switch problem {
    case "control characters are not allowed":
      return YAMLFault(
        location: location, found: "the control character \(name)", expected: "text without it")
    case "found character that cannot start any token" where character == "\t",
      "found a tab character that violates indentation",
      "found a tab character where an indentation space is expected":
      return YAMLFault(
        location: location, found: "a tab in the indentation", expected: "spaces")
    case "found character that cannot start any token",
      "did not find expected alphabetic or numeric character":
      return YAMLFault(
        location: start ?? location, found: "a value that starts with \(startingCharacter)",
        expected: "the text in quotes")
    case "found unknown escape character":
      return YAMLFault(
        location: location, found: "an unknown escape in a text in double quotes",
        expected: "\\\\ for a backslash, or the text in single quotes")
    default: return nil
    }
  }

  private var startingCharacter: String {
    let start = start ?? location
    let line = Array(source.line(start.line).unicodeScalars)
    return start.column <= line.count ? quoted(String(line[start.column - 1])) : "nothing"
  }

  private var badStructure: YAMLFault? {
    let start = start ?? location
    switch problem {
    case "found unexpected end of stream" where context.contains("quoted scalar"):
      return YAMLFault(
        location: start, found: "a quote that is never closed",
        expected: "the same quote at the end of the text")
    case "could not find expected ':'":
      return YAMLFault(
        location: start, found: "a line that is not an entry",
        expected: "\"key: value\" or \"- value\""
      )
    case "mapping values are not allowed in this context": return strayColon
    case "block sequence entries are not allowed in this context":
      return YAMLFault(
        location: location, found: "\"- \" where no list can start",
        expected: "the list on lines of its own, below its key")
    case "did not find expected key" where ["\"", "'"].contains(textBefore.last):
      return YAMLFault(
        location: location, found: "text after the closing quote",
        expected: "quotes around all of it")
    case "did not find expected key":
      return YAMLFault(
        location: location, found: "something that does not belong here",
        expected: "a key in column \(start.column), as in line \(start.line)")
    case "did not find expected '-' indicator":
      return YAMLFault(
        location: location, found: "something that does not belong here",
        expected: "\"- \" in column \(start.column), as in line \(start.line), or more indentation")
    default: return badFlow
    }
  }

  private var badFlow: YAMLFault? {
    switch problem {
    case "did not find expected ',' or '}'", "did not find expected ',' or ']'":
      let (open, close) = problem.hasSuffix("'}'") ? ("{", "}") : ("[", "]")
      return YAMLFault(
        location: location, found: "no end of the \"\(open)\" at \(start ?? location)",
        expected: "\",\" or \"\(close)\" here")
    case "did not find expected node content":
      return YAMLFault(
        location: location, found: "no value where one is needed",
        expected: "a value, or text in quotes")
    default: return nil
    }
  }

  /// A colon after a text that already has one, or that began on the line above.
  private var strayColon: YAMLFault {
    let words = textBefore.split(separator: " ")
    if words.count > 1 || location.line == 1 {
      return YAMLFault(
        location: location, found: "a colon and a space within a value",
        expected: "the text in quotes")
    }
    let above = (1..<location.line).last { number in
      let line = source.line(number).drop { $0 == " " }
      return !line.isEmpty && !line.hasPrefix("#")
    }
    let line = source.line(above ?? 1)
    let column = 1 + line.prefix { $0 == " " }.count
    if let above, !line.contains(":") {
      return YAMLFault(
        location: SourceLocation(line: above, column: column), found: "a line that is not an entry",
        expected: "\"key: value\" or \"- value\"")
    }
    let indent = source.line(location.line).prefix { $0 == " " }.count
    return YAMLFault(
      location: SourceLocation(line: location.line, column: indent + 1),
      found: "a key below the value of another", expected: "it indented like its neighbours")
  }

  /// The text of the line before the location, without spaces at its ends.
  private var textBefore: String {
    let before = source.line(location.line).unicodeScalars.prefix(location.column - 1)
    let text = String(before).drop { $0 == " " }
    return String(text.reversed().drop { $0 == " " }.reversed())
  }
}

extension YAMLFault {
  /// A placeholder that YAML parses as a mapping.
  static func barePlaceholder(at location: SourceLocation) -> YAMLFault {
    YAMLFault(
      location: location, found: "a placeholder outside quotes",
      expected: "the whole text in quotes, such as \"{{ride.id}}\"")
  }
}
