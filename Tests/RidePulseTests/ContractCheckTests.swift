import Foundation
import TestSupport
import Testing

/// `ridepulse check --against`. `ContractComparisonTests` covers what is compared.
@Suite struct ContractCheckTests {
  private static let rules = """
    states: { active: [requested, ride_started], final: [done] }
    rules:
      - name: card
        app: customer
        live-activity:
          attributes-type: RideAttributes
          attributes: { rideId: "{{ride.id}}" }
          content-state:
            status: "{{ride.state}}"
            plate: "{{ride.attributes.plate | default: ''}}"
            eta: "{{ride.attributes.eta | default: 0}}"
          start: ride_started
          stale-after: 5m
          alerts: { ride_started: { title: Off we go } }
        expires: 5m

    """

  private static let source = """
    struct RideAttributes: Codable {
      struct ContentState: Codable, Hashable {
        enum Status: String, Codable { case requested, ride_started, done }
        var status: Status
        var plate: String
        var eta: Int?
      }
      var rideId: String
    }

    """

  private static func check(_ source: String, _ words: [String] = []) throws -> Tool {
    try ScratchFolder.with { folder in
      try FileManager.default.createDirectory(
        atPath: folder + "/rules", withIntermediateDirectories: true)
      for (name, text) in [("rules/a.yaml", rules), ("RideAttributes.swift", source)] {
        try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
      }
      return try Command.ridepulse(
        ["check", "rules", "--against", "RideAttributes.swift"] + words, in: folder)
    }
  }

  @Test func `R95: a struct that agrees is compared, and exits with 0`() throws {
    let result = try Self.check(Self.source)
    #expect(result.status == 0, "\(result)")
    #expect(
      result.output.hasSuffix("RideAttributes.swift: 1 card compared, 0 problems, 0 not checked\n"),
      "\(result.output)")
  }

  @Test func `R95: a nonisolated struct, as generate writes it, is compared`() throws {
    let source = Self.source.replacing("struct ", with: "nonisolated struct ")
      .replacing("enum ", with: "nonisolated enum ")
    let result = try Self.check(source)
    #expect(result.status == 0, "\(result)")
    #expect(result.output.contains("1 card compared, 0 problems, 0 not checked"))
    let wrong = try Self.check(source.replacing("var plate: String", with: "var plate: Int"))
    #expect(wrong.status == 2 && wrong.output.contains("1 problem,"), "\(wrong)")
  }

  @Test func `R95: each problem has its location in both files, and the exit status is 2`() throws {
    let source = Self.source.replacing("var plate: String", with: "var plate: Int")
      .replacing(", done }", with: " }").replacing("var eta: Int?", with: "var eta: Date?")
    let result = try Self.check(source)
    #expect(result.status == 2, "\(result)")
    for line in [
      "RideAttributes.swift:4:9: content-state.status of rules/a.yaml:",
      "RideAttributes.swift:5:9: content-state.plate of rules/a.yaml:",
    ] { #expect(result.output.contains(line), "\(result.output)") }
    #expect(result.output.contains("has no case for done"), "\(result.output)")
    #expect(result.output.contains("2 problems"), "\(result.output)")
    // A number may be meant as Date's own; only a date-epoch can't be.
    #expect(result.output.contains("RideAttributes.swift:6:9: warning: "), "\(result.output)")
  }

  @Test func `R95: what can't be read is reported, and no card compared is a problem`() throws {
    let own = Self.source.replacing(
      "  var rideId",
      with: "  init(from decoder: any Decoder) throws { rideId = \"\" }\n  var rideId")
    let partly = try Self.check(own)
    #expect(partly.status == 0, "\(partly)")
    #expect(partly.output.contains("RideAttributes.swift:8:3: not checked: "), "\(partly.output)")
    #expect(partly.output.contains("0 problems, 1 not checked"), "\(partly.output)")
    let other = try Self.check(Self.source.replacing("RideAttributes", with: "TripAttributes"))
    #expect(other.status == 2, "\(other)")
    #expect(other.output.contains("no struct RideAttributes, which rules/a.yaml:"))
    let state = try Self.check(
      Self.source.replacing(
        "struct ContentState: Codable, Hashable {",
        with: "struct ContentState: Codable, Hashable { init(from decoder: any Decoder) throws {}"))
    #expect(state.status == 2 && state.output.contains("0 cards compared"), "\(state)")
    let broken = try Self.check("struct RideAttributes { /*")
    #expect(broken.status == 2, "\(broken)")
    #expect(broken.output.contains("RideAttributes.swift:1:25: a comment without an end"))
  }

  @Test func `A missing file or value is an error`() throws {
    let missing = try Command.ridepulse(["check", Stage.rules, "--against", "/nope.swift"])
    #expect(
      missing.status == 1 && missing.errors.contains("/nope.swift can't be read: No such file"))
    let none = try Command.ridepulse(["check", Stage.rules, "--against"])
    #expect(none.status == 64 && none.errors.contains("--against needs a value: FILE"))
    #expect(try Command.ridepulse(["check", "--help"]).output.contains("--against FILE"))
  }
}
