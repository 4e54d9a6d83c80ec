import Foundation
import Testing
import TestSupport

/// The types that `generate` writes for rules of many kinds.
@Suite("Generated types") struct GeneratedTypesTests {
  @Test func `public types are those that other modules see, and one RideState serves all`() throws
  {
    try CardFolder.with { folder in
      try folder.write(CardFolder.second("Trip"), "b.yaml")
      let own = try folder.run("generate", "swift").output
      #expect(!own.contains("public"))
      let result = try folder.run("generate", "swift", "--access", "public")
      #expect(result.status == 0 && result.errors == "")
      for line in [
        "public nonisolated enum RideState: Codable, Hashable, Sendable {",
        "public nonisolated struct Trip: Codable, Hashable, Sendable {", "  public init() {}",
        "    public var eta: Int", "    public init(", "      eta: Int,", "      self.eta = eta",
        "    public static var samples: [ContentState] {",
        "  public init(from decoder: any Decoder)",
      ] {
        #expect(result.output.contains("\n" + line), "\(line) in \(result.output)")
      }
      for language in ["swift", "kotlin"] {
        let text = try folder.run("generate", language).output
        let head = language == "swift" ? "enum RideState: " : "sealed class RideState("
        #expect(text.components(separatedBy: head).count == 2, "\(text)")
      }
    }
  }

  @Test func `words in capitals are names as the languages have them`() throws {
    try CardFolder.with { folder in
      let field =
        #"leg: { value: "{{ride.attributes.leg}}", type: [AT_PICKUP, at_pickup, DEFAULT] }"#
      try folder.write(CardFolder.card.replacing("eta: {", with: field + "\n        eta: {"))
      let swift = try folder.run("generate", "swift").output
      for line in [
        "case \"AT_PICKUP\": self = .atPickup", "case \"at_pickup\": self = .atPickupValue",
        "case `default`",
      ] {
        #expect(swift.contains(line), "\(line) in \(swift)")
      }
      let kotlin = try folder.run("generate", "kotlin").output
      #expect(kotlin.contains("object AtPickup : Leg(\"AT_PICKUP\")"), "\(kotlin)")
      #expect(kotlin.contains("object AtPickupWord : Leg(\"at_pickup\")"))
    }
  }

  @Test(arguments: ["RideState", "Rides.JSONValue", "Date", "List"])
  func `a type whose name the file needs is refused`(type: String) throws {
    try CardFolder.with { folder in
      try folder.write(CardFolder.card.replacing("RideAttributes", with: type))
      let result = try folder.run("generate", "swift")
      #expect(result.status != 0 && result.output == "")
      #expect(result.errors.contains("\(type) as attributes-type"), "\(result.errors)")
    }
  }

  @Test func `R127: words become an enum that decodes others, too, and a typed list structs`()
    throws
  {
    try CardFolder.with { folder in
      let fields = [
        #"product: { value: "{{ride.attributes.product}}", type: [van, taxi_xl] }"#,
        #"stops: { value: "{{ride.attributes.stops}}", type: [{ address: string }] }"#, "eta: {",
      ]
      try folder.write(
        CardFolder.card.replacing("eta: {", with: fields.joined(separator: "\n        ")))
      let result = try folder.run("generate", "swift", "--output", folder.path + "/Ride.swift")
      #expect(result.status == 0 && result.errors == "")
      let source = try folder.read("Ride.swift")
      for line in [
        "nonisolated enum Product: Codable", "case taxiXl", "case unknown(String)",
        "case \"taxi_xl\": self = .taxiXl", "var product: Product", "product: Product.van",
        "var address: String",
      ] {
        #expect(source.contains(line), "\(line)")
      }
      #expect(try folder.read("contract.lock").contains("    product: [van, taxi_xl]\n"))
    }
  }
}
