import Foundation
import RideCore
import RuleFiles
import Testing
import TestSupport

@testable import RidePulse

/// The generated types, compiled by `swiftc` alone, decode what the engine sends.
@Suite("Generated Swift") struct CardDecodingTests {
  private static let count = CardFleet.countOfPayloads

  private func write(_ text: String, _ path: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
  }

  private func swiftc(_ arguments: [String], in directory: String) throws {
    let result = try Tool.run("/usr/bin/env", ["swiftc"] + arguments, in: directory)
    try #require(result.status == 0, "\(result.errors)\(result.output)")
    #expect(result.errors == "", "no warnings")
  }

  @Test func `R96: every payload of a random fleet decodes, and none with another type`() throws {
    let directory = try ScratchFolder.create()
    defer { ScratchFolder.remove(directory) }
    let rules = try RuleDirectory.load(Project.path("schedules")).get().ruleSet
    let source = SwiftSource(rules)
    let contract = try #require(rules.contracts.first)
    let command = try Command.ridepulse(
      ["generate", "swift", "--output", directory + "/Ride.swift"],
      ["RIDEPULSE_SCHEDULES": Project.path("schedules")])
    #expect(command.status == 0, "\(command.errors)")
    try swiftc(["-typecheck", "Ride.swift"], in: directory)

    // As Xcode compiles the files of a new app.
    for access in GeneratedAccess.allCases {
      let source = SwiftSource(rules, access: access)
      try write(source.file([contract, CardContract.odd]), directory + "/Ride.swift")
      try swiftc(
        ["-swift-version", "6", "-default-isolation", "MainActor", "-typecheck", "Ride.swift"],
        in: directory)
    }
    let mutants = contract.mutants
    #expect(mutants.count > 12)
    // One file for a module: it has one RideState.
    var text = source.file(
      [contract, CardContract.odd]
        + mutants.enumerated().map { index, mutant in
          var contract = mutant.1
          contract.typeName = "Mutant\(index)"
          return contract
        })
    text += "typealias Decode = @Sendable (Data) throws -> Void\n"
    text += "let mutants: [(String, Decode)] = [\n"
    for (index, mutant) in mutants.enumerated() {
      text += "  (\"\(mutant.name)\", { _ = try JSONDecoder().decode("
      text += "Push<Mutant\(index), Mutant\(index).ContentState>.self, from: $0) }),\n"
    }
    try write(text + "]\n", directory + "/Ride.swift")

    var fleet = CardFleet(rules, seed: TestSeed.value(96))
    try fleet.payloads(Self.count).write(to: URL(fileURLWithPath: directory + "/payloads"))
    #expect(Set(fleet.suppressed.keys).isSuperset(of: ["card_type"]), "\(fleet.suppressed)")
    try swiftc(
      [
        "-swift-version", "6", "-o", "decode", "Ride.swift",
        Project.path("Tests/RidePulseTests/Contract/main.swift"),
      ], in: directory)
    let result = try Tool.run(directory + "/decode", [directory + "/payloads"])
    #expect(result.status == 0, "\(result.errors)")
    let lines = result.output.split(separator: "\n").map(String.init)
    try check(lines, mutants.map(\.name))
    #expect(lines.contains("states: \(rules.statesOfCards.sorted())"))
    #expect(lines.contains("words: \(CardContract.oddWords)"))
    let samples = lines.filter { $0.hasPrefix("sample equal: ") }
    #expect(samples.count == 4 + rules.statesOfCards.count)
    for state in rules.statesOfCards {
      #expect(samples.contains { $0.contains("\"status\":\"\(state)\"") }, "\(state)")
    }
  }

  private func check(_ lines: [String], _ mutants: [String]) throws {
    let counts = try #require(lines.first { $0.hasPrefix("decoded ") }, "\(lines)")
      .split(separator: " ").compactMap { Int($0) }
    try #require(counts.count == 4)
    #expect(counts[0] == Self.count && counts[3] == 0, "\(lines)")
    #expect(
      counts[1] > Self.count / 25 && counts[2] > Self.count / 2, "starts, contents: \(counts)")
    for name in mutants { #expect(lines.contains("mutant \(name): fails"), "\(name)") }
    let samples = lines.filter { $0.hasPrefix("sample ") }
    #expect(!samples.contains { $0.hasPrefix("sample differs") }, "\(samples)")
    #expect(samples.contains { $0.contains(#""driver_name":"Driver name""#) })
    #expect(lines.contains("sample date: 1795421400"))
    // What the docs state about Foundation is what it does.
    let docs = try String(contentsOfFile: Project.path("docs/app.md"), encoding: .utf8)
    let rows = lines.filter { $0.hasPrefix("| ") }
    #expect(rows.count == 17)
    for row in rows { #expect(docs.contains(row + "\n"), "\(row)") }
  }
}
