import Base
import Foundation
import RideCore
import RuleFiles
import TestSupport
import Testing

@testable import RidePulse

/// The generated Kotlin, compiled by `kotlinc` with Android's org.json, decodes what the engine sends.
@Suite("Generated Kotlin", .enabled(if: KotlinCompiler.isInstalled, KotlinCompiler.missing))
struct KotlinDecodingTests {
  private static let count = CardFleet.countOfPayloads

  /// Types for the rows of docs/android.md and for the paths of problems.
  private static let small: [CardContract] = {
    let fields: [(String, [String: CardField])] = [
      ("WholeAttributes", ["n": CardField(.int)]),
      ("FractionAttributes", ["n": CardField(.double)]),
      ("TextAttributes", ["n": CardField(.string)]), ("FlagAttributes", ["n": CardField(.bool)]),
      ("MaybeAttributes", ["n": CardField(.int, isOptional: true)]),
      ("PlaceAttributes", ["list": CardField(words, isOptional: true), "n": CardField(place)]),
    ]
    return fields.map { CardContract(typeName: $0, attributes: $1, contentState: [:]) }
  }()

  private static let words = FieldType.list(
    .object(["word": CardField(.words(["a", "A", "unknown"]))]))
  private static let place = FieldType.object(["x": CardField(.string)])

  private static let odd: CardContract = {
    var contract = CardContract.odd
    for key in ["class", "typeof", "component1", "a/*b*/", "नाम", "it", "at", "json", "$x"] {
      contract.contentState[key] = CardField(.object(["$word": CardField(.words(["a", "A"]))]))
    }
    return contract
  }()

  @Test func `R96: every card of a random fleet decodes, and none with another type`() throws {
    try ScratchFolder.with { directory in
      let rules = try RuleDirectory.load(Project.path("schedules")).get().ruleSet
      let source = KotlinSource(rules)
      let contract = try #require(rules.contracts.first)
      let mutants = contract.mutants
      #expect(mutants.count >= 16)
      // One file for a package: it has one RideState.
      let text = Self.table(of: mutants, source, with: [contract, Self.odd] + Self.small)
      try write(text, directory + "/Ride.kt")
      try write(Self.oddState, directory + "/odd.json")
      var fleet = CardFleet(rules, seed: TestSeed.value(96), platform: .android)
      let payloads = fleet.payloads(Self.count)
      try payloads.write(to: URL(fileURLWithPath: directory + "/payloads"))
      #expect(Set(fleet.suppressed.keys).isSuperset(of: ["card_type"]), "\(fleet.suppressed)")

      let jar = directory + "/decode.jar"
      try KotlinCompiler.compile(
        ["Ride.kt", Project.path("Tests/RidePulseTests/Kotlin/Decode.kt")], to: jar, in: directory)
      let result = try KotlinCompiler.run(
        "com.example.rides.DecodeKt", [directory + "/payloads", directory + "/odd.json"],
        classes: [jar])
      #expect(result.status == 0, "\(result.errors)")
      let lines = result.output.split(separator: "\n").map(String.init)
      try check(lines, mutants.map(\.name))
      try compare(lines, with: payloads)
      let states = rules.statesOfCards.sorted().joined(separator: ", ")
      #expect(lines.contains("states [\(states)]") && lines.contains("samples of [\(states)]"))
      let words = CardContract.oddWords.joined(separator: ", ")
      #expect(lines.contains("words [\(words)]"), "\(lines.filter { $0.hasPrefix("words") })")
    }
  }

  private func write(_ text: String, _ path: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
  }

  private static func table(
    of mutants: [(name: String, contract: CardContract)], _ source: KotlinSource,
    with others: [CardContract]
  ) -> String {
    let contracts = mutants.enumerated().map { index, mutant in
      var contract = mutant.contract
      contract.typeName = "Mutant\(index)"
      return contract
    }
    let entries = mutants.enumerated().map { index, mutant in
      "  \"\(mutant.name)\" to { json -> Mutant\(index).ContentState.of(json) }"
    }
    return source.file(others + contracts)
      + "\nval mutants = listOf<Pair<String, (JSONObject) -> Any>>(\n"
      + entries.joined(separator: ",\n") + "\n)\n"
  }

  private func check(_ lines: [String], _ mutants: [String]) throws {
    let counts = try #require(lines.first { $0.hasPrefix("decoded ") }, "\(lines.suffix(20))")
      .split(separator: " ").compactMap { Int($0) }
    try #require(counts.count == 4)
    let failed = lines.first { $0.hasPrefix("failed: ") }
    #expect(counts[0] == Self.count && counts[3] == 0, "\(failed ?? "")")
    #expect(
      counts[1] > Self.count / 25 && counts[2] == Self.count, "attributes, contents: \(counts)")
    for name in mutants { #expect(lines.contains("mutant \(name): fails"), "\(name)") }
    #expect(lines.contains("sample date: 1795421400000"))
    let problems = lines.filter { $0.hasPrefix("problem ") }
    #expect(
      problems == [
        "problem n.x is Integer, expected a text",
        "problem list[1].word is Integer, expected a text", "problem n is missing",
      ])
    let odd = try #require(lines.first { $0.hasPrefix("odd ") })
    for part in Self.oddParts { #expect(odd.contains(part), "\(part) in \(odd)") }
    // What the docs state about org.json is what it does.
    let docs = try String(contentsOfFile: Project.path("docs/android.md"), encoding: .utf8)
    let rows = lines.filter { $0.hasPrefix("| ") }
    #expect(rows.count == 15)
    for row in rows { #expect(docs.contains(row + "\n"), "\(row)") }
  }

  /// Compares each decoded state with the one that was sent.
  private func compare(_ lines: [String], with payloads: Data) throws {
    let decoded = lines.filter { $0.hasPrefix("state ") }.map { $0.dropFirst(6) }
    var sent: [NSDictionary?] = []
    for line in Array(payloads).split(separator: UInt8(ascii: "\n")) {
      let message = JSONValue(json: Array(line))
      let state = message?.value(at: ["message", "data", "rp_state"])
      guard case .string(let text) = state else { continue }
      sent.append(try Self.dictionary(text))
    }
    try #require(decoded.count == sent.count)
    var differing: [String] = []
    for (text, state) in zip(decoded, sent) where try Self.dictionary(String(text)) != state {
      differing.append(String(text))
    }
    #expect(differing.isEmpty, "\(differing.first ?? "")")
  }

  private static func dictionary(_ text: String) throws -> NSDictionary? {
    try JSONSerialization.jsonObject(with: Data(text.utf8)) as? NSDictionary
  }

  /// A state of the odd contract: each key, and one that it lacks.
  private static let oddState = """
    {"driver_name": "a", "driverName": "b", "URL": 1, "URLOfMap": 20.0, "1st": true, "": false,
     "a.b\\"\\\\\\n": 2, "größe": 1.5, "default": 2, "init": 3, "hashValue": 4, "type": "t",
     "eta": 1795248300, "eta_date": null, "any": {"a": [1, null]}, "things": [1, "x", [null]],
     "bag": {"k": {"l": true}}, "flags": [[true], []], "date": {"time": 7},
     "stops": [{"name": "n", "state": "elsewhere"}], "let": 1, "var": 2, "inout": 3,
     "stop": {"stop": {"a": 5}, "other": 6}, "a\\nb": {"a": 1}, "日本": {"a": 2},
     "class": {"$word": "a"}, "typeof": {"$word": "A"}, "component1": {"$word": "b"},
     "a/*b*/": {"$word": "a"}, "नाम": {"$word": "a"}, "it": {"$word": "a"}, "at": {"$word": "a"},
     "json": {"$word": "a"}, "$x": {"$word": "a"}, "phase": "AT_PICKUP", "further": 1}
    """

  /// What the decoded state has, as Kotlin prints it.
  private static let oddParts = [
    "phase=AT_PICKUP", "driverName=b", "driverNameValue=a", "url=1", "urlOfMap=20", "_1st=true",
    "eta=1795248300",
    "etaDate=null", "any={a=[1, null]}", "things=[1, x, [null]]", "bag={k={l=true}}",
    "flags=[[true], []]", "stops=[StopsElement(name=n, state=elsewhere)]", "maybe=null",
    "gate=null",
    "stop=Stop(other=6, stop=StopFields(a=5))", "größe=1.5", "car=null",
  ]
}
