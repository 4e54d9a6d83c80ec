import Foundation
import TestSupport
import Testing

@testable import RideCore
@testable import RuleFiles

/// The contract of a card: how rule files declare it, and what `contract.lock` allows to change.
@Suite("The contract of a card") struct ContractTests {
  private static let usual = """
    content-state:
      status: "{{ride.state}}"
      eta: { value: "{{ride.attributes.eta}}", type: int }
      note: { value: "{{ride.attributes.note}}", type: string, optional: true, since: 2 }
      car: { plate: "{{ride.attributes.plate | default: ''}}", doors: 4 }
      stops: [{ name: "x {{ride.id}}" }]
    """

  /// Returns the rules of a card with this content, whose lines begin at line 9 of the file.
  private func load(_ content: String, app: String = "customer", name: String = "a") throws
    -> LoadedRules
  {
    let text = Self.file(content, app: app, name: name)
    return try RuleDirectory.parse(files: [("\(name).yaml", Array(text.utf8))]).get()
  }

  private static func file(
    _ content: String, app: String = "customer", name: String = "a"
  ) -> String {
    """
    # One card.
    rules:
      - name: \(name)
        app: \(app)
        expires: 5m
        live-activity:
          attributes-type: RideAttributes
          attributes: { rideId: "{{ride.id}}" }
          stale-after: 2m

    """ + content.split(separator: "\n").map { "      \($0)\n" }.joined()
  }

  private func locked(_ contracts: [CardContract]) -> ContractLock {
    var lock = ContractLock()
    lock.record(contracts)
    return lock
  }

  @Test func `R95: declared and inferred types`() throws {
    let contract = try #require(try load(Self.usual).ruleSet.contracts.first)
    #expect(
      contract.contentState == [
        "status": CardField(.state), "eta": CardField(.int),
        "note": CardField(.string, isOptional: true, since: 2),
        "car": CardField(.object(["plate": CardField(.string), "doors": CardField(.int)])),
        "stops": CardField(.list(.object(["name": CardField(.string)]))),
      ])
  }

  @Test func `R97: the lock reads back, and is sorted`() throws {
    let rules = try load(Self.usual)
    let text = locked(rules.ruleSet.contracts).text
    #expect(
      text.split(separator: "\n").drop { $0.hasPrefix("#") }.joined(separator: "\n") == """
        RideAttributes:
          attributes:
            rideId: string
          content-state:
            car:
              type: object
              members:
                doors: int
                plate: string
            eta: int
            note: { type: string, optional: true, since: 2 }
            status: state
            stops:
              type: list
              elements:
                type: object
                members:
                  name: string
        """)
    let read = try ContractLock(Array(text.utf8), file: "contract.lock")
    #expect(read.contracts == ["RideAttributes": try #require(rules.ruleSet.contracts.first)])
    #expect(read.text == text)
    let changes = rules.contracts.map { ContractChanges(of: $0, since: read) }
    #expect(changes.allSatisfy { $0.breaking.isEmpty && $0.unrecorded.isEmpty })
  }

  @Test func `R127: typed lists and words are in the lock, which reads back`() throws {
    let rules = try load(
      """
      content-state:
        car: { value: "{{ride.attributes.car}}", type: [van, "true"], optional: true }
        stops: { value: "{{ride.attributes.stops}}", type: [{ address: string, kind: [pickup, stop] }] }
      """)
    let contract = try #require(rules.ruleSet.contracts.first)
    let text = locked([contract]).text
    #expect(text.contains("    car: { type: [van, \"true\"], optional: true }\n"))
    #expect(text.contains("          kind: [pickup, stop]\n"))
    let read = try ContractLock(Array(text.utf8), file: "contract.lock")
    #expect(read.contracts == ["RideAttributes": contract])
  }

  @Test func `The apps that first decoded a version stay when the contract is recorded again`()
    throws
  {
    let text = """
      A:
        content-state: { a: { type: int, since: 2 } }
        releases: { 2: { ios: "5.10", android: "3.1.0-beta" } }

      """
    var lock = try ContractLock(Array(text.utf8), file: "l")
    lock.record([CardContract(typeName: "A", contentState: ["a": CardField(.int, since: 2)])])
    let read = try ContractLock(Array(lock.text.utf8), file: "l")
    #expect(read.text == lock.text && read.releases == lock.releases)
    let first = try #require(read.releases["A"]?.first[2])
    #expect(first.mapValues(\.text) == [.ios: "5.10", .android: "3.1.0-beta"])
  }

  @Test func `R97: keys of any kind read back`() throws {
    let keys = ["true", "a.b", "1st", "", "null", "größe", "a: b", "\u{1}\"\\", "#x", "~"]
    let contract = CardContract(
      typeName: "A.B",
      contentState: Dictionary(uniqueKeysWithValues: keys.map { ($0, CardField(.list(.bool))) }))
    let read = try ContractLock(Array(locked([contract]).text.utf8), file: "l")
    #expect(read.contracts == ["A.B": contract])
  }

  /// A line of the usual content, its replacement, and the problem; `new` lines are added.
  private static let changes: [(String, String, [String])] = [
    (
      "eta:", "",
      [
        "contract.lock:12:5: content-state.eta of RideAttributes is gone from the rules; apps in the field decode it; expected the field kept, under its name, until those apps are gone; then delete this line"
      ]
    ),
    (
      "eta:", "etas: { value: \"{{ride.attributes.eta}}\", type: int, since: 3 }",
      [
        "a.yaml:12:9: content-state.etas of RideAttributes is not in contract.lock; expected `ridepulse generate swift`, which records it, and both files committed",
        "contract.lock:12:5: content-state.eta of RideAttributes is gone from the rules; apps in the field decode it; expected the field kept, under its name, until those apps are gone; then delete this line; did you mean \"etas\"?",
      ]
    ),
    (
      "eta:", "eta: { value: \"{{ride.attributes.eta}}\", type: string }",
      [
        "a.yaml:12:9: content-state.eta of RideAttributes is string; apps in the field decode int; expected int, and the new values in a new field with since: 3"
      ]
    ),
    (
      "eta:", "eta: { value: \"{{ride.attributes.eta}}\", type: int, optional: true }",
      [
        "a.yaml:12:9: content-state.eta of RideAttributes is optional now; apps in the field can't decode null; expected it as it was, or a new field with since: 3"
      ]
    ),
    (
      "note:", "note: { value: \"{{ride.attributes.note}}\", type: string }",
      [
        "a.yaml:13:9: content-state.note of RideAttributes was string, optional, since 2, and is required now; cards on screens lack it; expected it as it was"
      ]
    ),
    (
      "new", "gate: { value: \"{{ride.attributes.gate}}\", type: string }",
      [
        "a.yaml:16:9: content-state.gate of RideAttributes is new and required; cards on screens lack it; expected since: 3 next to its value, so that it is optional in the app"
      ]
    ),
    (
      "new", "gate: { value: \"{{ride.attributes.gate}}\", type: string, since: 3 }",
      [
        "a.yaml:16:9: content-state.gate of RideAttributes is not in contract.lock; expected `ridepulse generate swift`, which records it, and both files committed"
      ]
    ),
    (
      "car:", "car: { plate: x, doors: many }",
      [
        "a.yaml:14:26: content-state.car.doors of RideAttributes is string; apps in the field decode int; expected int, and the new values in a new field with since: 3"
      ]
    ),
    (
      "stops:", "stops: [{ name: 5 }]",
      [
        "a.yaml:15:19: content-state.stops[].name of RideAttributes is int; apps in the field decode string; expected string, and the new values in a new field with since: 3"
      ]
    ),
    (
      "stops:", "stops: { value: \"{{ride.attributes.stops}}\", type: list }",
      [
        "a.yaml:15:9: content-state.stops of RideAttributes is list of unknown elements; apps in the field decode list of object; expected list of object, and the new values in a new field with since: 3"
      ]
    ),
    // An app decodes an int as a time in seconds, and a state as a string.
    (
      "eta:", "eta: { value: \"{{ride.attributes.eta}}\", type: date-epoch }",
      [
        "a.yaml:7:24: RideAttributes is not as in contract.lock; expected `ridepulse generate swift`, which records it, and both files committed"
      ]
    ),
    ("eta:", "eta: { value: \"{{ride.attributes.eta2}}\", type: int }", []),
  ]

  @Test(arguments: changes.indices)
  func `R97: changes that apps in the field can't decode are refused`(index: Int) throws {
    let (line, replacement, expected) = Self.changes[index]
    let text = locked(try load(Self.usual).ruleSet.contracts).text
    let lock = try ContractLock(Array(text.utf8), file: "contract.lock")
    var lines = Self.usual.split(separator: "\n").map(String.init)
    if let index = lines.firstIndex(where: { $0.contains("  " + line) }) {
      lines[index] = replacement.isEmpty ? "" : "  " + replacement
    } else {
      lines.append("  " + replacement)
    }
    let changed = try load(lines.filter { !$0.isEmpty }.joined(separator: "\n"))
    let changes = changed.contracts.map { ContractChanges(of: $0, since: lock) }
    let problems = changes.flatMap { $0.breaking + $0.unrecorded }.sorted()
    #expect(problems.map(\.description) == expected)
  }

  @Test func `R97: the next version counts the members of objects and of lists`() throws {
    let rules = try load("content-state: { status: x, gate: y }")
    let members = "{ type: object, members: { a: { type: int, since: 5 } } }"
    for type in [members, "{ type: list, elements: \(members) }"] {
      let lock = try ContractLock(
        Array(
          "RideAttributes: { attributes: { rideId: string }, content-state: { x: \(type), status: string } }\n"
            .utf8), file: "l")
      let breaking = ContractChanges(of: try #require(rules.contracts.first), since: lock).breaking
      #expect(breaking.contains { $0.expected.hasPrefix("since: 6 next") }, "\(breaking)")
    }
  }

  @Test func `R97: a type without a rule, and a rule without a lock's type`() throws {
    let rules = try load(Self.usual)
    let lock = try ContractLock(
      Array("RideAttribute: { content-state: { eta: int } }\n".utf8), file: "contract.lock")
    #expect(
      ContractChanges.gone(from: lock, in: rules.contracts).map(\.description) == [
        "contract.lock:1:1: no rule has the attributes-type RideAttribute; expected a rule that keeps the cards of apps in the field up to date; once those apps are gone, delete its lines here; did you mean \"RideAttributes\"?"
      ])
    let changes = ContractChanges(of: try #require(rules.contracts.first), since: lock)
    #expect(
      changes.unrecorded.map(\.description) == [
        "a.yaml:7:24: contract.lock has no RideAttributes; expected `ridepulse generate swift`, which records it, and both files committed"
      ])
  }

  @Test(arguments: [
    ("[]", "l:1:1: contract.lock is a list; expected a mapping of attributes-type to its fields"),
    (
      "A: 5",
      "l:1:4: A is the number 5; expected a mapping (keys: attributes, content-state, releases)"
    ),
    (
      "A: { content-stat: {} }",
      "l:1:6: unknown key \"content-stat\" in A; expected one of attributes, content-state, releases; did you mean \"content-state\"?"
    ),
    (
      "A: { content-state: { a: itn } }",
      "l:1:26: content-state.a is the text \"itn\"; expected string, int, double, bool, date-epoch, list, object, state or unknown; did you mean \"int\"?"
    ),
    (
      "A: { content-state: { a: { since: 2 } } }",
      "l:1:26: a field without type; expected type: string, or another type"
    ),
    (
      "A: { content-state: { a: { type: int, since: 0 } } }",
      "l:1:46: since is the number 0; expected a whole number from 1 to 1000"
    ),
    (
      "A: { content-state: { a: { type: int, since: 2 } }, releases: { 3: { ios: \"5.2\" } } }",
      "l:1:65: releases has 3, and no field has it as since; expected 2"
    ),
    (
      "A: { content-state: { a: { type: int, since: 2 } }, releases: { 2: { ios: 5.2 } } }",
      "l:1:75: releases.2.ios is the number 5.2; "
        + "expected the app's version in quotes, such as \"5.2.0\""
    ),
    ("A: {", "l:2:1: the end of the file in the middle of a mapping"),
  ])
  func `R97: a lock that can't be read is a problem with its location`(
    text: String, problem: String
  ) {
    let error = #expect(throws: RuleProblems.self) {
      try ContractLock(Array(text.utf8), file: "l")
    }
    #expect(error?.description.hasPrefix(problem.prefix(7)) == true, "\(error?.description ?? "")")
    if !text.hasSuffix("{") { #expect(error?.description == problem) }
  }

  @Test func `two rules with one type must agree`() throws {
    let files = [
      ("a.yaml", Self.file(Self.usual)),
      (
        "b.yaml",
        Self.file(
          "content-state:\n  status: x\n  eta: { value: 1, type: int }\n  car: 5", app: "driver",
          name: "b")
      ),
    ].map { (name: $0.0, bytes: Array($0.1.utf8)) }
    let contracts = try RuleDirectory.parse(files: files).get().contracts
    let problems = RuleContract.disagreements(of: contracts).sorted()
    #expect(problems.count == 4)
    #expect(
      problems.last?.description
        == "b.yaml:13:9: content-state.car of RideAttributes is int; expected the same as in the rule a (a.yaml:14:9), where it is object; or another attributes-type"
    )
    #expect(
      problems.first?.description
        == "b.yaml:7:24: content-state.note of RideAttributes is missing; expected the same as in the rule a (a.yaml:13:9), where it is string, optional, since 2; or another attributes-type"
    )
  }

  /// A change of the second rule's content, the field that differs, and how.
  @Test(arguments: [
    ("plate: x", "plate: 5", "content-state.car.plate of RideAttributes is int", "it is string"),
    ("plate: x, ", "", "content-state.car.plate of RideAttributes is missing", "it is string"),
    (
      "plate: x", "plate: x, doors: 4", "content-state.car.doors of RideAttributes is int",
      "it has no such field"
    ),
    ("of: x", "of: true", "content-state.stops[].of of RideAttributes is bool", "it is string"),
  ])
  func `R95: of two objects that differ, the member that differs is named`(
    old: String, new: String, found: String, expected: String
  ) throws {
    let content = "content-state:\n  car: { plate: x, color: y }\n  stops: [{ of: x }]"
    let files = [
      ("a.yaml", Self.file(content)),
      ("b.yaml", Self.file(content.replacing(old, with: new), app: "driver", name: "b")),
    ].map { (name: $0.0, bytes: Array($0.1.utf8)) }
    let contracts = try RuleDirectory.parse(files: files).get().contracts
    let problems = RuleContract.disagreements(of: contracts).map(\.description)
    #expect(problems.count == 1, "\(problems)")
    #expect(problems.first?.hasPrefix("b.yaml:") == true)
    #expect(problems.first?.contains(found) == true, "\(problems)")
    #expect(problems.first?.contains("where \(expected); or") == true, "\(problems)")
  }

  @Test func `R97: the shipped lock fits the shipped rules`() throws {
    let directory = Project.path("schedules")
    let rules = try RuleDirectory.load(directory).get()
    #expect(rules.contractProblems(in: directory).map(\.description) == [])
    let lock = try #require(try ContractLock.load(directory))
    #expect(lock.contracts.keys.sorted() == ["RideAttributes"])
    #expect(rules.ruleSet.contracts.flatMap(\.untypedFields).isEmpty)
    let text = try String(contentsOfFile: directory + "/contract.lock", encoding: .utf8)
    #expect(lock.text == text, "as generate writes it")
  }
}
