import Base
internal import RideCore

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

/// An error of a schema migration.
package enum MigrationError: Error, Hashable, Sendable {
  /// The server is older than PostgreSQL 14; `version` is in the form of `server_version_num`.
  case serverTooOld(version: Int)
  /// The database is not encoded in UTF-8.
  case wrongEncoding(String, database: String)
  /// These steps were applied with a text that differs from this program's.
  case edited(names: [String])
  /// The database has these steps, which this program lacks, and lacks steps of this program.
  case unknown(names: [String])
  /// A step failed and was rolled back; the steps before it stay. The line counts within its file.
  case failed(name: String, line: Int?, PostgresError)
  /// A step had to wait too long for a lock and was rolled back; the steps before it stay.
  case locked(name: String, holders: [LockHolder])
  /// An operation other than a step failed.
  case database(PostgresError)
}

extension MigrationError: CustomStringConvertible {
  /// What is wrong and how to fix it, on one line that is safe to log.
  package var description: String {
    switch self {
    case .serverTooOld(let version):
      "Postgres \(version / 10_000) is too old: 14 or later is needed"
    case .wrongEncoding(let encoding, let database):
      "database \(database) is encoded in \(encoding), which does not hold every text that phones "
        + "show: create database NAME encoding 'UTF8' template template0, and copy it there with "
        + "pg_dump and pg_restore"
    case .edited(let names):
      "\(names.joined(separator: ", ")) was applied with another text. If a build before the first "
        + "release did, create a new database; otherwise restore the file, because a file that has "
        + "landed must not change, and put the change into a new one"
    case .unknown(let names):
      "the database was migrated by a program of another line, with "
        + "\(names.joined(separator: ", ")): deploy the program that applied them"
    case .failed(let name, let line, let error):
      "\(name)\(line.map { ", line \($0)" } ?? "") failed and was rolled back: \(error)"
        + (error.server?.hint.map { ". \($0)" } ?? "")
    case .locked(let name, let holders):
      "\(name) was rolled back: another session, such as a backup or a report, holds a table that it "
        + "needs. "
        + (holders.isEmpty
          ? "It holds none any more: run ridepulse migrate again"
          : "Run ridepulse migrate again when it has ended, or end it; sessions with locks now, the "
            + "oldest first: \(holders.map(Self.text).joined(separator: ", "))")
    case .database(let error): "the schema cannot be brought up to date: \(error)"
    }
  }

  /// `process 4711 (pg_dump)`
  private static func text(_ holder: LockHolder) -> String {
    let process = holder.processID.map { "process \($0)" } ?? "a prepared transaction"
    return holder.name.isEmpty ? process : "\(process) (\(Escape.line(holder.name)))"
  }
}
