internal import CMigrations

/// One numbered step of the database's schema.
package struct Migration: Hashable, Sendable {
  /// The digits that the name begins with; steps are applied in this order.
  package let number: Int
  /// The file's name without its ending, such as `0001_init`.
  package let name: String
  /// The text of the file: commands without BEGIN or COMMIT of their own.
  package let sql: String

  /// A step; nil where the name does not begin with a positive number and an underscore.
  package init?(name: String, sql: String) {
    guard let end = name.firstIndex(of: "_"), let number = Int(name[..<end]), number > 0 else {
      return nil
    }
    self.number = number
    self.name = name
    self.sql = sql
  }
}

/// Brings the schema of a database up to what this program expects.
package enum Migrations {
  /// The steps that the program carries, in order: the files of `sql/`.
  package static var all: [Migration] {
    var found: [Migration] = []
    var index = 0
    while let entry = unsafe ridepulse_migration_at(index) {
      let name = unsafe entry.pointee.name.map { unsafe String(cString: $0) } ?? ""
      let text = unsafe entry.pointee.text.map { unsafe String(cString: $0) } ?? ""
      // None is left out: a test holds the list against the folder.
      if let step = Migration(name: name, sql: text) { found.append(step) }
      index += 1
    }
    return found.sorted { $0.number < $1.number }
  }
}
