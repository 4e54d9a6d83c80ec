import Foundation
import RideCore
import RuleFiles
import TestSupport
import Testing

/// Whatever the bytes of an app's source are, the comparison ends, and each finding has a location.
@Suite struct `Fuzzing of Swift source` {
  @Test func `No source does harm`() {
    Fuzz.run("Swift source", cases: 1500) { chance throws(Fuzz.Fault) in
      let source = Self.bytes(by: &chance)
      let sources = SwiftSources([(name: "f.swift", bytes: source)])
      let comparison = ContractComparison(
        Self.contract, rule: "r.yaml:1", states: ["requested", "done"], startsByPush: true,
        with: sources)
      let lines = comparison.findings.map(\.description) + sources.problems.map(\.description)
      for line in lines {
        try require(line.hasPrefix("f.swift"), "without a location: \(line)")
        try require(!line.contains("\n"), "several lines: \(line)")
      }
      try require(
        comparison.isCompared || !lines.isEmpty, "a struct that is missing is not reported")
    }
  }

  @Test func `The source that is mutated agrees with the contract before`() {
    let comparison = ContractComparison(
      Self.contract, rule: "r.yaml:1", states: ["requested", "done"], startsByPush: true,
      with: SwiftSources([(name: "f.swift", bytes: Self.source)]))
    #expect(comparison.isCompared && comparison.findings.isEmpty, "\(comparison.findings)")
  }

  private static func bytes(by chance: inout Chance) -> [UInt8] {
    if chance.percent(10) { return chance.bytes(upTo: 300) }
    // The tests themselves are source of many kinds.
    let seed = chance.percent(80) ? source : own
    return mutation.mutate(seed, &chance, times: 1...(chance.percent(10) ? 40 : 4))
  }

  private static let own: [UInt8] =
    FileManager.default.contents(
      atPath: Project.path("Tests/RuleFilesTests/ContractComparisonTests.swift")
    ).map(Array.init) ?? []

  private static let contract = CardContract(
    typeName: "Ride", attributes: ["ride_id": CardField(.string)],
    contentState: [
      "status": CardField(.state), "eta": CardField(.dateEpoch, isOptional: true),
      "stops": CardField(.list(.object(["name": CardField(.string)]))),
      "more": CardField(.object(["a": CardField(.double)])),
    ])

  private static let source = Array(
    #"""
    import ActivityKit
    // A comment {
    public struct Ride: ActivityAttributes {
      public struct ContentState: Codable, Hashable {
        enum Status: String, Codable { case requested, finished = "done" }
        var status: Status
        var eta: Int?, stops: [Stop] = []
        let more: [String: Double]
        var text: String { "\(status) \(stops.map { "\($0)" })" }
        static let all: Set<Int> = [1, 2]
      }
      let id: String
      private enum CodingKeys: String, CodingKey { case id = "ride_id" }
    }
    extension Ride.ContentState { struct Stop: Codable, Hashable { var name: String } }
    #if DEBUG
    func f<T>(_ x: T) -> [T]? where T: Equatable { x < 1 ? nil : [x] }
    #endif
    """#.utf8)

  private static let mutation = Mutation([
    "{", "}", "(", ")", "[", "]", "<", ">", "\"", "\"\"\"", "#\"", "\"#", "\\(", "/*", "*/", "//",
    "/", "#/", "`", "@", "#if ", "#endif\n", "struct ", "enum ", "extension ", "var ", "let ",
    "case ", "init(from decoder: Decoder) ", "typealias A = A\n", ": ", "?", "!", "=", ",", "\n",
    "\r\n", "\t", "->", "&", "...", "\u{0}", "\u{feff}", "🚕", "é", "\\", "class ", "static ",
    "lazy ", "Ride", "ContentState", "CodingKeys", "Optional<", "some ", "0x", "1e", "-",
  ])
}
