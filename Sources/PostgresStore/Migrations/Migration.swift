internal import CMigrations

/// One numbered step of the database schema.
package struct Migration: Hashable, Sendable {
  /// The number that the name begins with; steps are applied in this order.
  package let number: Int
  /// The file's name without its extension, such as `0001_init`.
  package let name: String
  /// The text of the file: commands without their own BEGIN or COMMIT.
  package let sql: String

  /// Creates a step; nil if the name does not begin with a positive number and an underscore.
  package init?(name: String, sql: String) {
    guard let end = name.firstIndex(of: "_"), let number = Int(name[..<end]), number > 0 else {
      return nil
    }
    self.number = number
    self.name = name
    self.sql = sql
  }
}

/// Migrates a database to the schema that this program expects.
package enum Migrations {
  /// The program's built-in steps, in order: the files of `sql/`.
  package static var all: [Migration] {
    var found: [Migration] = []
    var index = 0
    while let entry = unsafe ridepulse_migration_at(index) {
      let name = unsafe entry.pointee.name.map { unsafe String(cString: $0) } ?? ""
      let text = unsafe entry.pointee.text.map { unsafe String(cString: $0) } ?? ""
      // None is left out: a test compares the list with the folder.
      if let step = Migration(name: name, sql: text) { found.append(step) }
      index += 1
    }
    return found.sorted { $0.number < $1.number }
  }
}
