import Base
import PostgresStore
import RideCore
import SystemSupport

/// The file of cells that `RIDEPULSE_CELLS` names: one line for each, `NAME [schema=SCHEMA] CONNECTION`.
struct CellFile {
  static let variable = "RIDEPULSE_CELLS"
  /// The maximum size of the file, in bytes.
  private static let sizeLimit = 1 << 20
  private static let nameLimit = 40

  /// The cells in the file's order; never empty.
  let cells: [Cell]

  /// Reads the file; nil if the environment names none.
  ///
  /// - Throws: `CommandFailure` that names file and line, and no connection string, which may hold a
  ///   password.
  init?(_ environment: [String: String]) throws(CommandFailure) {
    guard let path = environment.nonEmpty(Self.variable) else { return nil }
    for other in ["DATABASE_URL", "DATABASE_URL_FILE"] where environment.nonEmpty(other) != nil {
      throw CommandFailure("\(Self.variable) and \(other) are both set: unset one")
    }
    let bytes: [UInt8]
    do throws(RegularFile.Failure) {
      bytes = try RegularFile.read(path, limit: Self.sizeLimit)
    } catch {
      throw CommandFailure("\(Self.variable): can't read \(path): \(error)")
    }
    do throws(Problem) {
      cells = try Self.cells(of: String(decoding: bytes, as: UTF8.self))
    } catch {
      let line = error.line.map { ":\($0)" } ?? ""
      throw CommandFailure("\(Self.variable): \(path)\(line): \(error.text)")
    }
  }

  /// What is wrong with a file.
  struct Problem: Error, Hashable {
    /// Nil if it is of the whole file.
    var line: Int?
    var text: String
  }

  /// Returns the cells of a file's text.
  static func cells(of text: String) throws(Problem) -> [Cell] {
    var cells: [Cell] = []
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
    {
      let words = line.split(maxSplits: 1, whereSeparator: \.isWhitespace)
      guard let name = words.first, !name.hasPrefix("#") else { continue }
      func problem(_ text: String) -> Problem { Problem(line: index + 1, text: text) }
      guard isName(name) else {
        throw problem(
          "a cell's name is 1 to \(nameLimit) of a-z, 0-9 and -, and begins with a letter")
      }
      if cells.contains(where: { $0.name == String(name) }) {
        throw problem("cell \(name) is listed twice")
      }
      var rest = Self.rest(words)
      let schema: SchemaName?
      do throws(PostgresError) { schema = try takeSchema(&rest) } catch {
        throw problem("cell \(name) has a schema that can't be used: \(error)")
      }
      while rest.last?.isWhitespace ?? false { rest.removeLast() }
      guard rest.contains("=") || rest.contains("://") else {
        // Not shown: it may be a password that is in the wrong place.
        throw problem(
          "cell \(name) needs a connection string, such as \(name) postgres://USER@HOST/DATABASE")
      }
      if let other = cells.first(where: { $0.conninfo == rest && $0.schema == schema }) {
        throw problem(
          "cell \(name) has the database and schema of cell \(other.name ?? ""); "
            + "schema=SCHEMA before the connection string names another schema")
      }
      cells.append(Cell(name: String(name), conninfo: rest, schema: schema))
    }
    if cells.isEmpty { throw Problem(line: nil, text: "it lists no cell") }
    return cells
  }

  private static func isName(_ word: Substring) -> Bool {
    word.utf8.allSatisfy { $0.isLowercaseOrDigit || $0 == UInt8(ascii: "-") }
      && word.utf8.count <= nameLimit && word.utf8.first?.isLowercase ?? false
  }

  /// Returns what follows the first word.
  private static func rest(_ words: [Substring]) -> String {
    String(words.dropFirst().joined().drop(while: \.isWhitespace))
  }

  /// Removes the word `schema=SCHEMA` from the beginning.
  private static func takeSchema(_ rest: inout String) throws(PostgresError) -> SchemaName? {
    let key = "schema="
    guard rest.hasPrefix(key) else { return nil }
    let words = rest.split(maxSplits: 1, whereSeparator: \.isWhitespace)
    rest = Self.rest(words)
    return try SchemaName(String(words[0].dropFirst(key.count)))
  }

  /// The names of all cells, for messages.
  var names: String { Self.names(of: cells) }

  static func names(of cells: [Cell]) -> String {
    cells.compactMap(\.name).joined(separator: ", ")
  }

  /// Returns the cell of this name.
  func cell(named name: String) throws(CommandFailure) -> Cell {
    if let cell = cells.first(where: { $0.name == name }) { return cell }
    throw CommandFailure(
      "\(Self.variable) lists no cell \(Escape.line(name)); the cells are \(names)",
      status: .usage)
  }
}
