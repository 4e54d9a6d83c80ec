internal import Base
internal import Glibc

/// The schema that holds all tables and functions: `ridepulse`, or the one that `RIDEPULSE_SCHEMA`
/// names.
///
/// All SQL of this program is written for the schema `ridepulse`. A session puts the name of its own
/// schema in the place of that word when it sends a text.
package struct SchemaName: Hashable, Sendable, CustomStringConvertible {
  package let name: String

  /// The longest name for which the names of triggers, channels and roles that are made from it
  /// stay within Postgres' 63 bytes.
  private static let sizeLimit = 40

  /// - Throws: `PostgresError.invalidSchema` for a name that would need quotes, that Postgres
  ///   reserves, or that is too long.
  package init(_ name: String) throws(PostgresError) {
    let isPlain = name.utf8.allSatisfy(Self.isPartOfName)
    let beginsWithDigit = name.utf8.first.map { (0x30...0x39).contains($0) } ?? true
    guard isPlain, !beginsWithDigit, name.utf8.count <= Self.sizeLimit, !name.hasPrefix("pg_"),
      !Self.reserved.contains(name)
    else { throw PostgresError(.invalidSchema(name)) }
    self.name = name
  }

  private init(standard: String) { name = standard }

  package static let standard = SchemaName(standard: "ridepulse")

  /// Schemas of other programs, names of objects that would be taken for the schema's, and the words
  /// that SQL reserves (`pg_get_keywords()`, categories R and T).
  private static let reserved = Set(
    """
    public information_schema ridepulse_app ridepulse_engine ridepulse_reader ridepulse_wake \
    ridepulse_deliveries ridepulse_read ridepulse_watch ridepulse_notify \
    all analyse analyze and any array as asc asymmetric authorization binary both case cast \
    check collate collation column concurrently constraint create cross current_catalog \
    current_date current_role current_schema current_time current_timestamp current_user default \
    deferrable desc distinct do else end except false fetch for foreign freeze from full grant \
    group having ilike in initially inner intersect into is isnull join lateral leading left \
    like limit localtime localtimestamp natural not notnull null offset on only or order outer \
    overlaps placing primary references returning right select session_user similar some \
    symmetric table tablesample then to trailing true union unique user using variadic verbose \
    when where window with
    """.split(separator: " ").map(String.init))

  /// Reads `RIDEPULSE_SCHEMA` of this process, as libpq reads its own `PG*` variables.
  package static func ofProcess() throws(PostgresError) -> SchemaName {
    guard let value = unsafe getenv("RIDEPULSE_SCHEMA").map({ unsafe String(cString: $0) }),
      !value.isEmpty
    else { return standard }
    return try SchemaName(value)
  }

  package var description: String { name }

  /// Returns SQL text, or a text that names objects of the schema, for this schema.
  ///
  /// The word `ridepulse` is replaced where it begins the name of an object (`ridepulse.rides`,
  /// `ridepulse_app`), ends a string literal (`'ridepulse'`) or follows the word `schema`. In any
  /// other place it is the name of the program. Names of this schema stay as they are.
  package func applied(to text: String) -> String {
    if self == .standard { return text }
    let (bytes, word) = (Array(text.utf8), Array(Self.standard.name.utf8))
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    var index = 0
    while index < bytes.count {
      let end = index + word.count
      guard end <= bytes.count, bytes[index] == word[0], bytes[index..<end].elementsEqual(word),
        index == 0 || !Self.isPartOfName(bytes[index - 1]), !hasName(bytes[index...]),
        Self.namesObject(bytes[end...].first, followedBy: bytes[end...].dropFirst().first)
          || bytes[..<index].suffix(7).elementsEqual("schema ".utf8)
      else {
        result.append(bytes[index])
        index += 1
        continue
      }
      result += name.utf8
      index = end
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// Whether the text begins with this schema's name, which may itself begin with `ridepulse_`.
  private func hasName(_ bytes: ArraySlice<UInt8>) -> Bool {
    guard bytes.starts(with: name.utf8) else { return false }
    let next = bytes.dropFirst(name.utf8.count).first
    return next.map { !Self.isPartOfName($0) || $0 == UInt8(ascii: "_") } ?? true
  }

  private static func namesObject(_ byte: UInt8?, followedBy next: UInt8?) -> Bool {
    switch byte {
    case UInt8(ascii: "_"), UInt8(ascii: "'"): true
    // A point followed by a space ends a sentence.
    case UInt8(ascii: "."): next.map { !isSpace($0) } ?? false
    default: false
    }
  }

  private static func isPartOfName(_ byte: UInt8) -> Bool {
    byte.isLowercaseOrDigit || byte == UInt8(ascii: "_")
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0a }
}
