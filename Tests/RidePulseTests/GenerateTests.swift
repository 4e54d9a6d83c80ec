import Foundation
import Testing
import TestSupport

/// `generate swift` and `contract.lock`, as a user runs them.
@Suite("generate") struct GenerateTests {
  @Test func `R96: the types of the shipped rules`() throws {
    let result = try Command.ridepulse(
      ["generate", "swift", "--schedules", Project.path("schedules")])
    #expect(result.status == 0 && result.errors == "")
    let golden = Project.path("Tests/RidePulseTests/Golden/RideAttributes.txt")
    #expect(try Golden.difference(of: result.output, from: golden) == nil)
  }

  @Test func `the Kotlin types of the shipped rules`() throws {
    let result = try Command.ridepulse(
      ["generate", "kotlin", "--schedules", Project.path("schedules")])
    #expect(result.status == 0 && result.errors == "")
    let golden = Project.path("Tests/RidePulseTests/Golden/RideAttributes.kotlin.txt")
    #expect(try Golden.difference(of: result.output, from: golden) == nil)
  }

  @Test func `Kotlin has a package and an access of its own, and the lock of Swift`() throws {
    try CardFolder.with { folder in
      #expect(try folder.run("generate", "swift").status == 0)
      let lock = try folder.read("contract.lock")
      let result = try folder.run(
        "generate", "kotlin", "--package", "com.example.taxi", "--access", "internal")
      #expect(result.status == 0 && result.errors == "")
      #expect(result.output.contains("\npackage com.example.taxi\n"))
      #expect(result.output.contains("\ninternal class RideAttributes {\n"))
      #expect(try folder.read("contract.lock") == lock)
    }
  }

  @Test func `an app's types are those of its cards`() throws {
    try CardFolder.with { folder in
      try folder.write(CardFolder.second("Trip"), "b.yaml")
      let result = try folder.run("generate", "kotlin", "--app", "driver")
      #expect(result.status == 0 && result.output.contains("class Trip"), "\(result)")
      #expect(!result.output.contains("RideAttributes"))
      #expect(try !folder.read("contract.lock").contains("RideAttributes"))
      let mixed = try folder.run("generate", "swift", "--app", "driver", "--rule", "card")
      #expect(mixed.status == 64 && mixed.errors.contains("card is not one of the app driver"))
    }
  }

  @Test func `R97: a contract from its first version to its second`() throws {
    try CardFolder.with { folder in
      #expect(try folder.run("check").status == 0)
      let first = try folder.run("generate", "swift", "--output", folder.path + "/Ride.swift")
      #expect(first.status == 0 && first.output == "" && first.errors == "", "\(first.errors)")
      let source = try folder.read("Ride.swift")
      #expect(source.contains("    var eta: Int\n"))
      let lock = try folder.read("contract.lock")
      #expect(
        lock.hasSuffix("  attributes: {}\n  content-state:\n    eta: int\n    status: state\n"))
      #expect(try folder.run("check").status == 0)
      #expect(try folder.run("generate", "swift").output == source)
      #expect(try folder.read("contract.lock") == lock)

      let text = "eta: { value: \"{{ride.attributes.eta}}\", type: string }"
      try folder.write(
        CardFolder.card.replacing(
          "eta: { value: \"{{ride.attributes.eta}}\", type: int }", with: text))
      let expected =
        "\(folder.path)/a.yaml:10:9: content-state.eta of RideAttributes is string; apps in the "
        + "field decode int; expected int, and the new values in a new field with since: 2\n"
      let check = try folder.run("check")
      #expect(check.status == 2 && check.output.contains(expected), "\(check.output)")
      let refused = try folder.run("generate", "swift", "--output", folder.path + "/Ride.swift")
      #expect(refused.status == 2 && refused.errors.hasSuffix(expected), "\(refused.errors)")
      #expect(refused.errors.hasPrefix("ridepulse: nothing was written:\n"))
      #expect(try folder.read("Ride.swift") == source && folder.read("contract.lock") == lock)

      try folder.write(
        CardFolder.card.replacing(
          "status: \"{{ride.state}}\"",
          with:
            "status: \"{{ride.state}}\"\n        gate: { value: \"{{ride.attributes.gate}}\", type: string, since: 2 }"
        ))
      let unrecorded = try folder.run("check")
      #expect(unrecorded.status == 2)
      #expect(
        unrecorded.output.contains("a.yaml:10:9: content-state.gate of RideAttributes is not"))
      #expect(try folder.run("generate", "swift").output.contains("    var gate: String?\n"))
      #expect(try folder.read("contract.lock").contains("    gate: { type: string, since: 2 }\n"))
      #expect(try folder.run("check").status == 0)
    }
  }

  @Test func `R97: the choice of a rule refuses what another rule of its type changes`() throws {
    try CardFolder.with { folder in
      try folder.write(CardFolder.second(), "b.yaml")
      #expect(try folder.run("generate", "swift").status == 0)
      let lock = try folder.read("contract.lock")
      try folder.write(CardFolder.card.replacing("type: int", with: "type: string"))
      let result = try folder.run("generate", "swift", "--rule", "second")
      #expect(result.status == 2 && result.output == "", "\(result)")
      #expect(result.errors.contains("a.yaml:10:9: content-state.eta of RideAttributes is string"))
      #expect(try folder.read("contract.lock") == lock)
    }
  }

  @Test func `R96: two types with one name in the generated file are refused`() throws {
    try CardFolder.with { folder in
      try folder.write(CardFolder.card.replacing("RideAttributes", with: "A.Card"))
      try folder.write(CardFolder.second("B.Card"), "b.yaml")
      let result = try folder.run("generate", "swift")
      let expected =
        "b.yaml:6:24: B.Card and A.Card of the rule card (\(folder.path)/a.yaml:6:24) are both Card"
      #expect(result.status == 2, "\(result)")
      #expect(result.errors.contains(expected), "\(result)")
      #expect(try folder.run("generate", "swift", "--rule", "second").status == 0)
    }
  }

  @Test func `R97: a lock that can't be read leaves the types as they were`() throws {
    try CardFolder.with { folder in
      try FileManager.default.createDirectory(
        atPath: folder.lock + "/x", withIntermediateDirectories: true)
      try folder.write("old", "Ride.swift")
      let result = try folder.run("generate", "swift", "--output", folder.path + "/Ride.swift")
      #expect(result.status == 2 && result.errors.contains("nothing was written"), "\(result)")
      #expect(try folder.read("Ride.swift") == "old")
    }
  }

  @Test func `R97: serve loads rules that the lock refuses, and no lock as rules`() throws {
    try CardFolder.with { folder in
      try folder.write("RideAttributes: { content-state: { gone: int } }\n", "contract.lock")
      #expect(try folder.run("check").status == 2)
      let rides = folder.path + "/rides.jsonl"
      try folder.write("{\"id\":\"r1\",\"state\":\"requested\"}\n", "rides.jsonl")
      #expect(try folder.run("preview", "--rides", rides).status == 0)
      try folder.write("RideAttributes: [\n", "contract.lock")
      let unreadable = try folder.run("check")
      #expect(unreadable.status == 2 && unreadable.output.contains("contract.lock:2:1: "))
      let generate = try folder.run("generate", "swift")
      #expect(generate.status == 2 && generate.errors.contains("contract.lock:2:1: "))
      #expect(generate.output == "")
    }
  }

  /// Words after `generate`, exit status, and a part of the message.
  private static let mistakes: [([String], Int32, String)] = [
    ([], 64, "WHAT is missing"), (["swfit"], 64, "did you mean swift?"),
    (["swift", "--rule", "crad"], 64, "unknown rule crad; did you mean card?"),
    (
      ["swift", "--rule", "arrived"], 64, "the rule arrived has no live-activity; these have: card"
    ),
    (["swift", "--app", "custmer"], 64, "no card of the app custmer; did you mean customer?"),
    (["swift", "--package", "a.b"], 64, "--package is for Kotlin"),
    (["kotlin", "--package", "a.class"], 64, "a.class is not the name of a package"),
    (["kotlin", "--access", "private"], 64, "private is not one of public, internal"),
    (["swift", "--story", "requested"], 64, "--story is for fixtures"),
    (["kotlin", "--module", "Rides"], 64, "--module is for fixtures"),
    (["fixtures", "--story", "x", "--access", "public"], 64, "--access is for types"),
    (["fixtures", "--story", "requested", "--output", "x", "--module", "a b"], 64, "--module a b"),
    (["fixtures", "--output", "x"], 64, "--story is missing"),
    (["fixtures", "--story", "requested"], 64, "--output is missing"),
    (["fixtures", "--story", "x,,", "--output", "x"], 64, "--story: "),
    (["swift", "--output", "/nope/a.swift"], 1, "--output: /nope/a.swift can't be written"),
  ]

  @Test(arguments: mistakes.indices)
  func `a mistake is named`(index: Int) throws {
    let (words, status, expected) = Self.mistakes[index]
    try CardFolder.with { folder in
      let result = try Command.ridepulse(
        ["generate"] + words, ["RIDEPULSE_SCHEDULES": folder.path])
      #expect(result.status == status && result.errors.contains(expected), "\(result.errors)")
      #expect(!FileManager.default.fileExists(atPath: folder.lock))
    }
  }

  @Test func `rules without a card have no types`() throws {
    try CardFolder.with { folder in
      try folder.write("rules: []\n")
      let result = try folder.run("generate", "swift")
      #expect(result.status == 1 && result.errors.contains("no rule has a live-activity"))
    }
  }
}
