import Foundation
import PostgresStore
import TestSupport
import Testing

@testable import RidePulse

@Suite struct CellFileTests {
  @Test func `a line names a cell, its schema and its database`() throws {
    let cells = try CellFile.cells(
      of: """
        # cities
        berlin postgres://rides@db1/berlin

        wien  schema=wien  host=db2 dbname=cities
        graz schema=graz host=db2 dbname=cities\u{20}
        """)
    #expect(
      cells == [
        Cell(name: "berlin", conninfo: "postgres://rides@db1/berlin"),
        Cell(name: "wien", conninfo: "host=db2 dbname=cities", schema: try SchemaName("wien")),
        Cell(name: "graz", conninfo: "host=db2 dbname=cities", schema: try SchemaName("graz")),
      ])
  }

  static let faults: [(text: String, line: Int?, part: String)] = [
    ("", nil, "it lists no cell"),
    ("# none\n\n", nil, "it lists no cell"),
    ("Berlin dbname=a", 1, "a cell's name is"),
    ("1a dbname=a", 1, "a cell's name is"),
    ("a dbname=a\na dbname=b", 2, "cell a is listed twice"),
    ("a dbname=a\n\nb dbname=a", 3, "cell b has the database and schema of cell a"),
    ("a", 1, "cell a needs a connection string"),
    ("a hunter2secret", 1, "cell a needs a connection string"),
    ("a schema=x", 1, "cell a needs a connection string"),
    ("a schema=Wien dbname=a", 1, "cell a has a schema that can't be used"),
  ]

  @Test(arguments: faults) func `a fault is reported with its line`(
    text: String, line: Int?, part: String
  ) {
    let problem = #expect(throws: CellFile.Problem.self) { try CellFile.cells(of: text) }
    #expect(problem?.line == line)
    #expect(problem?.text.contains(part) == true, "\(problem?.text ?? "")")
    #expect(problem?.text.contains("hunter2") == false)
  }

  @Test func `the file's name and line are in the message`() throws {
    let folder = try ScratchFolder.create()
    defer { ScratchFolder.remove(folder) }
    let path = folder + "/cells"
    try Data("a dbname=a\na dbname=b\n".utf8).write(to: URL(fileURLWithPath: path))
    let failure = #expect(throws: CommandFailure.self) {
      try CellFile(["RIDEPULSE_CELLS": path])
    }
    #expect(failure?.description == "RIDEPULSE_CELLS: \(path):2: cell a is listed twice")
    let both = #expect(throws: CommandFailure.self) {
      try CellFile(["RIDEPULSE_CELLS": path, "DATABASE_URL": "dbname=a"])
    }
    #expect(both?.description.contains("both set") == true)
    let missing = #expect(throws: CommandFailure.self) {
      try CellFile(["RIDEPULSE_CELLS": folder + "/none"])
    }
    #expect(missing?.description.contains("can't read \(folder)/none") == true)
    #expect(try CellFile([:]) == nil)
  }

  @Test func `a command about one database needs a choice`() throws {
    let folder = try ScratchFolder.create()
    defer { ScratchFolder.remove(folder) }
    let path = folder + "/cells"
    try Data("a dbname=a\nb dbname=b\n".utf8).write(to: URL(fileURLWithPath: path))
    let failure = #expect(throws: CommandFailure.self) {
      try Database.conninfo(["RIDEPULSE_CELLS": path])
    }
    #expect(failure?.description.contains("--cell NAME; the cells are a, b") == true)
    #expect(failure?.status == .usage)
  }
}
