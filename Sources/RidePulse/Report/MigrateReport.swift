import Base
import RideCore

/// What `migrate` has done; as a table each line is printed at once, and JSON at the end.
struct MigrateReport {
  let format: OutputFormat
  /// Whether nothing is changed.
  let isDry: Bool
  /// Begins each line, such as that of a comment in SQL.
  let mark: String

  private var steps: [String] = []
  private var indexes: Int?
  private var roles: [String]?
  private var statements: [String]?
  private var newer: [String] = []

  init(format: OutputFormat, isDry: Bool, mark: String) {
    (self.format, self.isDry, self.mark) = (format, isDry, mark)
  }

  /// Whether a step was applied or an index built, or would be.
  var hasChanges: Bool { !steps.isEmpty || indexes != nil }

  mutating func add(step: String) {
    steps.append(step)
    print("\(mark)\(isDry ? "would apply" : "applied") \(step)")
  }

  /// - Parameter hasWaited: whether another session built indexes at the same time.
  mutating func add(indexes count: Int, hasWaited: Bool) {
    indexes = count
    let others = hasWaited ? "; another session built the others" : ""
    print(
      "\(mark)\(isDry ? "would build" : "built") \(counted(count, "index", "indexes")), "
        + "without blocking writers\(others)")
  }

  /// Reports that there is nothing to do.
  ///
  /// - Parameter newer: the steps of a later program that the schema has.
  mutating func state(newer: [String]) {
    self.newer = newer
    print(
      newer.isEmpty
        ? "\(mark)the schema is current"
        : "\(mark)the schema is newer than this program, which works with it: "
          + "\(newer.joined(separator: ", ")) is from a later one; nothing to do")
  }

  mutating func add(roles names: [String]) {
    roles = names
    print("roles \(names.joined(separator: ", ")) have their rights; grant them to your logins")
  }

  /// Reports the SQL that would make the roles.
  mutating func add(statements list: [String]) {
    statements = list
    for statement in list { print(statement + ";") }
  }

  func end() {
    guard format == .json else { return }
    func list(_ words: [String]) -> JSONValue { .array(words.map { .string($0) }) }
    Terminal.print(
      json: .object([
        "dry_run": .bool(isDry), "steps": list(steps), "indexes": .integer(Int64(indexes ?? 0)),
        "newer": list(newer), "roles": roles.map(list) ?? .null,
        "statements": statements.map(list) ?? .null,
      ]))
  }

  private func print(_ line: String) {
    if format == .table { Terminal.print(line) }
  }
}
