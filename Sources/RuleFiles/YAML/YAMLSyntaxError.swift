/// What libyaml says of a text that is no YAML, put into words that help.
struct YAMLSyntaxError {
  let problem: String
  let context: String
  /// Where libyaml noticed it.
  let place: Place
  /// Where the thing began that libyaml was reading.
  let start: Place?
  let source: SourceText

  var fault: YAMLFault {
    barePlaceholder ?? badCharacter ?? badStructure
      ?? YAMLFault(
        place: place, found: "invalid YAML: " + (context.isEmpty ? "" : context + ", ") + problem,
        expected: "valid YAML")
  }

  /// `title: {{ride.id}} is here`: YAML takes the braces for a mapping.
  private var barePlaceholder: YAMLFault? {
    let rest = source.line(place.line).unicodeScalars.dropFirst(place.column - 1)
    if rest.starts(with: "{{".unicodeScalars) { return .barePlaceholder(at: place) }
    for number in Set([place.line, place.line - 1, start?.line ?? place.line]).sorted() {
      let line = Array(source.line(number).unicodeScalars)
      for column in line.indices.dropFirst(2)
      where line[column...].starts(with: "{{".unicodeScalars) && line[column - 1] == " "
        && (line[column - 2] == ":" || line[column - 2] == "-")
      {
        return .barePlaceholder(at: Place(line: number, column: column + 1))
      }
    }
    return nil
  }

  private var badCharacter: YAMLFault? {
    let line = Array(source.line(place.line).unicodeScalars)
    let character = place.column <= line.count ? line[place.column - 1] : nil
    let name = character.map { quoted(String($0)) } ?? "the end of the line"
    switch problem {
    case "control characters are not allowed":
      return YAMLFault(
        place: place, found: "the control character \(name)", expected: "text without it")
    case "found character that cannot start any token" where character == "\t",
      "found a tab character that violates indentation",
      "found a tab character where an indentation space is expected":
      return YAMLFault(
        place: place, found: "a tab in the indentation", expected: "spaces")
    case "found character that cannot start any token",
      "did not find expected alphabetic or numeric character":
      return YAMLFault(
        place: start ?? place, found: "a value that starts with \(startingCharacter)",
        expected: "the text in quotes")
    case "found unknown escape character":
      return YAMLFault(
        place: place, found: "an unknown escape in a text in double quotes",
        expected: "\\\\ for a backslash, or the text in single quotes")
    default: return nil
    }
  }

  private var startingCharacter: String {
    let start = start ?? place
    let line = Array(source.line(start.line).unicodeScalars)
    return start.column <= line.count ? quoted(String(line[start.column - 1])) : "nothing"
  }

  private var badStructure: YAMLFault? {
    let start = start ?? place
    switch problem {
    case "found unexpected end of stream" where context.contains("quoted scalar"):
      return YAMLFault(
        place: start, found: "a quote that is never closed",
        expected: "the same quote at the end of the text")
    case "could not find expected ':'":
      return YAMLFault(
        place: start, found: "a line that is no entry", expected: "\"key: value\" or \"- value\"")
    case "mapping values are not allowed in this context": return strayColon
    case "block sequence entries are not allowed in this context":
      return YAMLFault(
        place: place, found: "\"- \" where no list can start",
        expected: "the list on lines of its own, below its key")
    case "did not find expected key" where ["\"", "'"].contains(textBefore.last):
      return YAMLFault(
        place: place, found: "text behind the closing quote", expected: "quotes around all of it")
    case "did not find expected key":
      return YAMLFault(
        place: place, found: "something that does not belong where it stands",
        expected: "a key in column \(start.column), as in line \(start.line)")
    case "did not find expected '-' indicator":
      return YAMLFault(
        place: place, found: "something that does not belong where it stands",
        expected: "\"- \" in column \(start.column), as in line \(start.line), or more indentation")
    default: return badFlow
    }
  }

  private var badFlow: YAMLFault? {
    switch problem {
    case "did not find expected ',' or '}'", "did not find expected ',' or ']'":
      let (open, close) = problem.hasSuffix("'}'") ? ("{", "}") : ("[", "]")
      return YAMLFault(
        place: place, found: "no end of the \"\(open)\" at \(start ?? place)",
        expected: "\",\" or \"\(close)\" here")
    case "did not find expected node content":
      return YAMLFault(
        place: place, found: "no value where one must stand",
        expected: "a value, or text in quotes")
    default: return nil
    }
  }

  /// A colon behind a text that has one already, or that began on the line above.
  private var strayColon: YAMLFault {
    let words = textBefore.split(separator: " ")
    if words.count > 1 || place.line == 1 {
      return YAMLFault(
        place: place, found: "a colon and a space within a value", expected: "the text in quotes")
    }
    let above = (1..<place.line).last { number in
      let line = source.line(number).drop { $0 == " " }
      return !line.isEmpty && !line.hasPrefix("#")
    }
    let line = source.line(above ?? 1)
    let column = 1 + line.prefix { $0 == " " }.count
    if let above, !line.contains(":") {
      return YAMLFault(
        place: Place(line: above, column: column), found: "a line that is no entry",
        expected: "\"key: value\" or \"- value\"")
    }
    let indent = source.line(place.line).prefix { $0 == " " }.count
    return YAMLFault(
      place: Place(line: place.line, column: indent + 1),
      found: "a key below the value of another", expected: "it indented like its neighbours")
  }

  /// What stands in the line before the place, without the spaces at its ends.
  private var textBefore: String {
    let before = source.line(place.line).unicodeScalars.prefix(place.column - 1)
    let text = String(before).drop { $0 == " " }
    return String(text.reversed().drop { $0 == " " }.reversed())
  }
}

extension YAMLFault {
  /// A placeholder that YAML takes for a mapping.
  static func barePlaceholder(at place: Place) -> YAMLFault {
    YAMLFault(
      place: place, found: "a placeholder outside quotes",
      expected: "the whole text in quotes, such as \"{{ride.id}}\"")
  }
}
