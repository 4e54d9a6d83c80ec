import RideCore
import Testing

@testable import RuleFiles

/// `check --against`: a card's contract compared with Swift source.
@Suite struct ContractComparisonTests {
  private static let states: Set<String> = ["requested", "driver_arrived", "done"]

  /// Compares a contract of one field `x` with a property of `ContentState`.
  private static func findings(
    _ field: CardField?, _ property: String, in rest: String = ""
  ) -> [String] {
    findings(
      CardContract(typeName: "Ride", contentState: field.map { ["x": $0] } ?? [:]),
      "struct Ride: ActivityAttributes {\n  struct ContentState: Codable, Hashable {\n"
        + "    \(property)\n  }\n\(rest)\n}\n")
  }

  private static func findings(_ contract: CardContract, _ sources: String...) -> [String] {
    let files = sources.enumerated().map { ("\($0).swift", Array($1.utf8)) }
    let sources = SwiftSources(files.map { (name: $0.0, bytes: $0.1) })
    if !sources.problems.isEmpty { return sources.problems.map(\.description) }
    let comparison = ContractComparison(
      contract, rule: "r.yaml:7", fileLocation: { $0.last == "x" ? "r.yaml:9" : nil },
      states: states, startsByPush: true, with: sources)
    return comparison.findings.map(\.description)
  }

  /// A field, a property, and the parts of what is found; none means that they agree.
  private static let pairs: [(CardField, String, [String])] = [
    (CardField(.string), "var x: String", []),
    (CardField(.string), "let x: Swift.String?", []),
    (CardField(.int), "var x: Int", []),
    (CardField(.int), "var x: Double", []),
    (CardField(.int), "var x: Optional<Int64>", []),
    (CardField(.double), "public var x: TimeInterval", []),
    (CardField(.bool), "@available(iOS 17, *) var x: Bool", []),
    (CardField(.dateEpoch), "var x: Int", []),
    (CardField(.words(["van", "taxi"])), "var x: String", []),
    (CardField(.words(["van", "taxi"])), "var x: Int", ["one of van or taxi", "can't decode it"]),
    (CardField(.state), "var x: String", []),
    (CardField(.list(.string)), "var x: [String]", []),
    (CardField(.list(.int)), "var x: Set<Int>?", []),
    (CardField(.object(["a": CardField(.int)])), "var x: [String: Int]", []),
    (CardField(.string, isOptional: true), "var x: String?", []),
    (CardField(.string), "var x: String = \"\" { didSet { print(x) } }", []),
    (CardField(.string), "var x: String\n { willSet {} }", []),
    // Nothing of these is decoded.
    (
      CardField(.string),
      "var x: String; static let a = 1; let b = 2; var c: Int { x.count }; func d() {}", []
    ),
    (
      CardField(.int), "var x: String",
      ["0.swift:3:9: content-state.x of r.yaml:9 is a whole number", "x: String can't", "Int"]
    ),
    (CardField(.string), "var x: Int", ["is a string, and x: Int can't decode it", "String"]),
    (CardField(.double), "var x: Int", ["fraction", "Double", "type: int"]),
    (CardField(.bool), "var x: Int", ["true or false", "Bool"]),
    (CardField(.dateEpoch), "var x: Date", ["0.swift:3:9", "31 years", "timeIntervalSince1970"]),
    (CardField(.dateEpoch), "var x: Foundation.Date?", ["31 years"]),
    (CardField(.int), "var x: Date", ["warning", "2001"]),
    (CardField(.dateEpoch), "var x: String", ["can't decode it", "Int"]),
    (CardField(.int), "var x: Int8", ["warning", "-128 to 127"]),
    (CardField(.string), "var x: URL", ["warning", "a URL"]),
    (CardField(.string, isOptional: true), "var x: String", ["may be null", "x: String?"]),
    (CardField(.int, since: 2), "var x: Int", ["warning", "since version 2", "x: Int?"]),
    (CardField(.int, since: 2), "var x: Int?", []),
    (CardField(.string), "var x = 3", ["x: Int can't"]),
    (CardField(.double), "var x = -0.5", []),
    (CardField(.string), "var x = Self.make()", ["not checked: the type of x is not stated"]),
    (CardField(.string), "@Trimmed var x: String", ["not checked: x has @Trimmed"]),
    (CardField(.string), "lazy var x: String = \"\"", ["not checked: x has lazy"]),
    (
      CardField(.string), "#if DEBUG\n var x: String\n #endif", ["0.swift:4:6: not checked", "#if"]
    ),
    (CardField(.unknown), "var x: Int", ["not checked", "r.yaml:9, x: { value: …, type: … }"]),
    (CardField(.string), "var x: Fare", ["not checked: x: Fare is Fare, which 0.swift lacks"]),
    (CardField(.string), "var x: (Int, Int)", ["not checked", "no type that JSON decodes into"]),
    (CardField(.string), "var x: ClosedRange<Date>", ["not checked", "ClosedRange"]),
    (CardField(.list(.string)), "var x: [Int]", ["content-state.x[] of r.yaml:7 is a string"]),
    (CardField(.list(nil)), "var x: [Int]", ["not checked: r.yaml:9 does not state what"]),
    (CardField(.list(.int)), "var x: [Int: Int]", ["not checked", "key is Int"]),
  ]

  @Test(arguments: pairs.indices)
  func `R95: a field and a property agree, or what differs is named`(index: Int) {
    let (field, property, parts) = Self.pairs[index]
    let found = Self.findings(field, property)
    #expect(found.count == (parts.isEmpty ? 0 : 1), "\(property): \(found)")
    for part in parts { #expect(found.first?.contains(part) ?? false, "\(property): \(found)") }
  }

  @Test func `R95: a property that the rule lacks is an error unless it is optional`() {
    #expect(Self.findings(nil, "var x: Int?").isEmpty)
    let found = Self.findings(nil, "var y: Int = 3")
    #expect(
      found.count == 1 && found[0].contains("needs content-state.y, which r.yaml:7 does not send"))
    #expect(found.first?.contains("decoding does not use its value") ?? false, "\(found)")
  }

  @Test func `R95: a field that the struct lacks is ignored, with the nearest property`() {
    let contract = CardContract(
      typeName: "Ride", contentState: ["driver_name": CardField(.string), "x": CardField(.int)])
    let found = Self.findings(
      contract, "struct Ride { struct ContentState { var driverName: String?\n var x: Int } }")
    #expect(found.count == 1 && found[0].hasPrefix("0.swift:1:15: warning: "), "\(found)")
    #expect(found.first?.contains("did you mean driverName?") ?? false)
  }

  @Test func `R95: states need a case each`() {
    let enumeration = """
      enum Status: String, Codable {
        case requested, arrived = "driver_arrived"
        case finished // "done"
      }
      """
    let found = Self.findings(CardField(.state), "var x: Status", in: enumeration)
    #expect(found.count == 1 && found[0].contains("no case for done: such an update"), "\(found)")
    let complete = enumeration.replacing("finished //", with: "done //")
    #expect(Self.findings(CardField(.state), "var x: Status?", in: complete).isEmpty)
    let text = Self.findings(CardField(.string), "var x: Status", in: complete)
    #expect(
      text.count == 1 && text[0].contains("warning") && text[0].contains("not a case of Status"))
    let own = complete.replacing(
      "case requested",
      with: "init(from decoder: any Decoder) throws { self = .done }\n case requested")
    let unread = Self.findings(CardField(.state), "var x: Status", in: own)
    #expect(unread.count == 1 && unread[0].contains("has its own init(from:)"), "\(unread)")
    let bare = Self.findings(
      CardField(.state), "var x: S", in: "enum S: Codable { case requested }")
    #expect(bare.count == 1 && bare[0].contains("without raw values"), "\(bare)")
    for (protocols, rest) in [
      ("String, Codable", "extension Ride.S: Unknown {}"), ("String, Codable, Unknown", ""),
    ] {
      let source = "enum S: \(protocols) { case requested } }\n\(rest)\nstruct Other {"
      let found = Self.findings(CardField(.state), "var x: S", in: source)
      #expect(found.count == 1 && found[0].contains("init(from:) from Unknown"), "\(found)")
    }
    let branches = "enum S: String, Codable {\n case requested\n#if A\n case done\n#endif\n}"
    let unsure = Self.findings(CardField(.state), "var x: S", in: branches)
    #expect(unsure.count == 1 && unsure[0].contains("not checked"), "\(unsure)")
    let numbers = Self.findings(
      CardField(.int), "var x: S", in: "enum S: Int, Codable { case a = 1, b }")
    #expect(numbers.count == 1 && numbers[0].contains("warning"))
  }

  @Test func `R95: CodingKeys, extensions, aliases and nested structs are followed`() {
    let contract = CardContract(
      typeName: "Ride", attributes: ["ride_id": CardField(.string)],
      contentState: [
        "eta": CardField(.dateEpoch),
        "stops": CardField(.list(.object(["name": CardField(.string), "x": CardField(.int)]))),
      ])
    let found = Self.findings(
      contract,
      """
      /* a comment /* in a comment */ struct Ride {} */
      struct Ride: Sendable {
        var id: String  // "struct
        private enum CodingKeys: String, CodingKey { case id = "ride_id" }
        typealias ContentState = CardState
      }
      #if canImport(ActivityKit)
        extension Ride: ActivityAttributes {}
      #endif
      """,
      #"""
      struct CardState: Codable, Hashable {
        let arrival: Int, stops: [Stop]
        var note: String? = "\(1 + [2].map { "\($0)" }.count) {"
        var cached = #"raw " text"#
        enum CodingKeys: String, CodingKey { case arrival = "eta", stops }
      }
      extension CardState {
        struct Stop: Codable, Hashable { var name: String; var x: Number }
        typealias Number = String
      }
      """#)
    #expect(
      found == [
        "1.swift:8:58: content-state.stops[].x of r.yaml:9 is a whole number, and x: Number can't "
          + "decode it; declare it Int, or state another type in the rule"
      ])
  }

  /// The struct, in a file of its own, an extension with `CodingKeys`, and whether the keys are read.
  private static let conditional: [(String, String, Bool)] = [
    ("%", "$", true), ("%", "#if canImport(ActivityKit)\n$\n#endif", false),
    ("#if canImport(ActivityKit)\n%\n#endif", "#if canImport(ActivityKit)\n$\n#endif", true),
    ("#if canImport(ActivityKit)\n%\n#endif", "$", true),
    ("#if A\n%\n#endif", "#if B\n$\n#endif", false),
    ("#if A\n%\n#endif", "#if A\n#else\n$\n#endif", false),
    ("#if A\n%\n#endif", "#if A\n#if DEBUG\n$\n#endif\n#endif", false),
    ("%", "#if A\n#endif\n$", true), ("%", "#if A\n#warning(\"x\")\n#endif\n$", true),
    ("%", "#if A\n#elseif B\n$\n#endif", false),
  ]

  @Test(arguments: conditional.indices)
  func `R95: an extension in an #if that its type is not in decides nothing`(index: Int) {
    let (type, keys, isRead) = Self.conditional[index]
    let contract = CardContract(typeName: "Ride", contentState: ["eta": CardField(.int)])
    let found = Self.findings(
      contract,
      type.replacing("%", with: "struct Ride { struct ContentState { var arrival: Int } }"),
      keys.replacing(
        "$",
        with: "extension Ride.ContentState { enum CodingKeys: String, CodingKey "
          + "{ case arrival = \"eta\" } }"))
    if isRead {
      #expect(found.isEmpty, "\(found)")
    } else {
      #expect(found.count == 1 && found[0].contains("not checked: content-state: CodingKeys is"))
      #expect(found.first?.contains("#if may change how it decodes") == true, "\(found)")
    }
  }

  /// Source without its decoder, a field, and what is found if `generate swift` wrote the decoder.
  private static let generated: [(GeneratedDecoder, CardField, String, [String])] = [
    (.state, CardField(.state), "RideState", []), (.state, CardField(.string), "RideState", []),
    (.state, CardField(.int), "RideState", ["a whole number, and x: RideState can't decode it"]),
    (.value, CardField(.unknown), "JSONValue", []), (.value, CardField(.int), "JSONValue", []),
    (.value, CardField(.list(nil)), "[JSONValue]", []),
    (.value, CardField(.object(nil)), "[String: JSONValue]?", []),
    (.value, CardField(.string), "[JSONValue]", ["is a string, and x: [JSONValue] can't"]),
  ]

  @Test(arguments: generated.indices)
  func `R96: a decoder that generate wrote is known, and a changed one is not`(index: Int) {
    let (decoder, field, type, parts) = Self.generated[index]
    let name = decoder == .state ? "RideState" : "JSONValue"
    func found(_ decoder: String) -> [String] {
      Self.findings(field, "var x: \(type)", in: "enum \(name): Codable { case a\n\(decoder)\n}")
    }
    let source = decoder.lines.joined(separator: "\n")
    for source in [source, source.replacing("\n", with: "\n\n  // comment\n")] {
      let found = found(source)
      #expect(found.count == parts.count, "\(found)")
      for part in parts { #expect(found.first?.contains(part) == true, "\(found)") }
    }
    if !parts.isEmpty { return }
    for changed in [
      source.replacing("decode(String", with: "decode(Int"),
      "#if A\n\(source)\n#endif", source + "\n" + source,
      source.replacing("\n}", with: "\n  check()\n}"),
    ] {
      let found = found(changed)
      #expect(found.count == 1 && found[0].contains("not checked"), "\(changed): \(found)")
    }
  }

  /// Nesting beyond what is read has its own text.
  @Test(arguments: [
    (String(repeating: "[", count: 60) + "Int" + String(repeating: "]", count: 60), "too deeply"),
    ("Int" + String(repeating: "?", count: 20), "declared by itself or nested too deeply"),
  ])
  func `R95: a type that is nested too deeply is reported as that`(type: String, part: String) {
    var field = CardField(.int)
    if type.hasPrefix("[") {
      for _ in 0..<48 { field = CardField(.list(field.type)) }
    }
    let found = Self.findings(field, "var x: \(type)")
    #expect(found.count == 1 && found[0].contains(part), "\(found)")
  }

  @Test func `R95: a struct within more types than are read is reported as that`() {
    let source =
      String(repeating: "enum A { ", count: 48) + "struct Ride { struct ContentState {} }"
      + String(repeating: "}", count: 48)
    let found = Self.findings(CardContract(typeName: "Ride"), source)
    #expect(found.contains { $0.contains("whose depth of more than 48 types") }, "\(found)")
  }

  @Test func `R95: attributes are compared only if the rule starts cards`() {
    let contract = CardContract(typeName: "Ride")
    let sources = SwiftSources([
      (
        name: "a.swift",
        bytes: Array("struct Ride { var rideId: String; struct ContentState {} }".utf8)
      )
    ])
    for (starts, count) in [(true, 1), (false, 0)] {
      let comparison = ContractComparison(
        contract, rule: "r.yaml:7", states: [], startsByPush: starts, with: sources)
      #expect(comparison.findings.count == count, "\(comparison.findings)")
    }
  }

  /// Source, and a part of the only finding.
  private static let unreadable: [(String, String)] = [
    ("struct Rides {}", "no struct Ride, which r.yaml:7 names; did you mean Rides?"),
    ("struct Ride {}", "ContentState, which 0.swift lacks"),
    ("class Ride { struct ContentState {} }", "which is not a struct"),
    ("struct Ride<T> { struct ContentState {} }", "generic"),
    ("@Coded struct Ride { struct ContentState {} }", "@Coded may change"),
    ("struct Ride { enum ContentState { case a } }", "without raw values"),
    (
      "struct Ride { struct ContentState {} }\nextension Ride.ContentState: Codable "
        + "{ init(from d: Decoder) throws {} }",
      "0.swift:2:40: not checked: content-state is Ride.ContentState, which has its own"
    ),
    (
      "#if A\nstruct Ride { struct ContentState {} }\n#else\nstruct Ride { }\n#endif",
      "0.swift:4:1: not checked: attributes is Ride, which is declared twice"
    ),
    (
      "struct Ride { struct ContentState { enum CodingKeys: Int, CodingKey { case a } } }",
      "CodingKeys is no enum of texts"
    ),
    (
      "struct Ride { struct ContentState {\n#if A\nenum CodingKeys: String, CodingKey { case a }\n"
        + "#endif\n} }", "#if may change"
    ),
    (
      "struct Ride {\n#if A\nstruct ContentState {}\n#else\ntypealias ContentState = Other\n"
        + "#endif\n}", "not checked: content-state is Ride.ContentState, whose #if"
    ),
    (
      "struct Ride { typealias ContentState = State }\n#if A\nstruct State {}\n#else\n"
        + "typealias State = Other\n#endif", "content-state is State, which is declared twice"
    ),
    ("struct Ride { struct ContentState { var (a, b) = (1, 2) } }", "whose var (…) may change"),
    ("struct Ride { /* struct ContentState {} }", "0.swift:1:15: a comment without an end"),
    ("struct Ride { let a = \"x\n }", "0.swift:1:23: a text without an end"),
    (
      "let a = " + String(repeating: "\"\\(", count: 40),
      "an interpolation in 32 others; expected 32 at most"
    ),
  ]

  @Test(arguments: unreadable.indices)
  func `R95: what can't be read is reported`(index: Int) {
    let (source, part) = Self.unreadable[index]
    let found = Self.findings(CardContract(typeName: "Ride"), source)
    #expect(found.count == 1 && found[0].contains(part), "\(source): \(found)")
  }

  /// Declarations of `T` that refer to themselves.
  @Test(arguments: [
    "enum T: T { case a }", "typealias T = T", "typealias T = T?",
    "typealias T = U; typealias U = T",
    "struct T: RawRepresentable { var rawValue: T }", "struct T: Codable { var t: [T] }",
    "typealias T = Optional<T>",
  ])
  func `R95: a type that is declared by itself ends`(declaration: String) {
    let field = CardField(.object(["t": CardField(.list(nil))]))
    let found = Self.findings(field, "var x: T", in: declaration)
    #expect(found.count == 1 && found[0].contains("not checked"), "\(declaration): \(found)")
  }

  /// Properties of a struct after expressions that are hard to skip, each of which keeps `x`.
  @Test(arguments: [
    "let a = Pair<Int, String>(1), b = 2", "static let a = b!", "static var a = 1 +\n 2",
    "static let a = b\n  .map { $0 }\n  .first", "static let a = /[\"{]/",
    "static let a = \"\"\"\n  \" { \\(b)\n  \"\"\"", "static let a: [String: (Int) -> Void] = [:]",
    "static let a = b < c, d = e > f", "func a() -> some View { if b { c } else { d } }",
    "static subscript(a: Int) -> Int { a }", "init?(from url: URL) { nil }",
    "@MainActor func a<T>(_ b: T) async throws -> T where T: Equatable { b }",
    "#warning(\"{\")", "static let a = if b { 1 } else { 2 }", "var a: Int { get { 1 } set {} }",
    "enum E { case a(Int), b }", "static let a = #/[{\"]/#", "let `case` = 1",
    "static let a = #\"\"\"#", "static let a = #\"\"\"\"#", "let (a, b) = (1, 2)",
    "static let a = #\"\"\"\n  \" {\n  \"\"\"#", "enum CodingKeys: CodingKey { case x }",
  ])
  func `R95: no property is lost after code that is skipped`(code: String) {
    let found = Self.findings(CardField(.int), "\(code)\n    var x: String")
    #expect(found.count == 1 && found[0].contains("x: String can't decode it"), "\(code): \(found)")
  }
}
