package import Base
import RideCore

/// Reads an old sender's log: CSV with a header that names the columns.
package struct OldLogReader: Sendable {
  /// What a log looks like.
  package struct Form: Sendable {
    package var time = "time"
    package var person = "person"
    package var kind = "kind"
    package var text = "text"
    /// Whether the log must have the column of texts.
    package var needsText = false
    package var separator = UInt8(ascii: ",")
    package var encoding = CSVReader.Encoding.utf8
    /// The zone of times that state none; nil refuses them.
    package var zone: ZoneTimes?

    package init() {}
  }

  private struct Columns {
    var time: Int
    var person: Int
    var kind: Int
    var text: Int?
    var count: Int
  }

  private let form: Form
  private var reader: CSVReader
  private var columns: Columns?

  package init(_ form: Form) {
    self.form = form
    reader = CSVReader(separator: form.separator, encoding: form.encoding)
  }

  /// Reads the next line, without its line feed; returns a push if the line ends one.
  package mutating func read(_ line: [UInt8]) throws(CSVReader.Problem) -> OldPush? {
    guard let record = try reader.read(line) else { return nil }
    guard let columns else {
      self.columns = try header(record)
      return nil
    }
    return try push(record, columns)
  }

  /// Fails if the log ended within a field or has no header.
  package func finish() throws(CSVReader.Problem) {
    try reader.finish()
    if columns == nil {
      throw CSVReader.Problem(
        line: 1, message: "the log is empty; expected a header such as time,person,kind,text")
    }
  }

  private func header(_ record: CSVReader.Record) throws(CSVReader.Problem) -> Columns {
    let names = record.fields.map(Self.trimmed)
    func column(_ name: String, _ option: String) throws(CSVReader.Problem) -> Int {
      let found = names.indices.filter { names[$0] == name }
      if found.count == 1 { return found[0] }
      let state = found.isEmpty ? "has no column" : "has several columns"
      let shown = names.prefix(20).joined(separator: ", ")
      let separator = names.count == 1 ? "; --separator sets another one than a comma" : ""
      throw CSVReader.Problem(
        line: record.line,
        message: "the header \(state) \(name): it has \(shown); \(option) names another\(separator)"
          + suggestion(for: name, among: names))
    }
    let hasText = form.needsText || names.contains(form.text)
    return Columns(
      time: try column(form.time, "--time-column"),
      person: try column(form.person, "--person-column"),
      kind: try column(form.kind, "--kind-column"),
      text: hasText ? try column(form.text, "--text-column") : nil, count: names.count)
  }

  private func push(
    _ record: CSVReader.Record, _ columns: Columns
  ) throws(CSVReader.Problem) -> OldPush {
    func problem(_ message: String) -> CSVReader.Problem {
      CSVReader.Problem(line: record.line, message: message)
    }
    let fields = record.fields
    if fields.count != columns.count {
      throw problem("the record has \(fields.count) fields, the header \(columns.count)")
    }
    let (time, person) = (Self.trimmed(fields[columns.time]), Self.trimmed(fields[columns.person]))
    let kind = Self.trimmed(fields[columns.kind])
    if person.isEmpty { throw problem("\(form.person) is empty") }
    if kind.isEmpty { throw problem("\(form.kind) is empty") }
    let at: Timestamp
    do { at = try LogTime.instant(time, form.zone) } catch {
      switch error {
      case .noZone:
        throw problem(
          "\(form.time) \(time.quotedBrief) has no zone; --time-zone names it, such as UTC")
      case .noTime:
        throw problem(
          "\(form.time) \(time.quotedBrief) is not a time; expected ISO 8601, or seconds or "
            + "milliseconds since 1970")
      }
    }
    let text = columns.text.map { Self.trimmed(fields[$0]) }
    return OldPush(
      at: at, person: OwnerID(person), kind: kind, text: text?.isEmpty == true ? nil : text,
      line: record.line)
  }

  private static func trimmed(_ text: String) -> String {
    let start = text.drop(while: \.isWhitespace)
    let end = start.lastIndex { !$0.isWhitespace }.map(start.index(after:))
    return String(start[..<(end ?? start.startIndex)])
  }
}
