import Testing

@testable import Base
@testable import RideCore
@testable import RuleFiles

/// `attributes`: what rules may name once it is there.
@Suite struct AttributeTests {
  private static let declaration = """
    attributes:
      eta_epoch: time
      fare: number
      free_wait: number
      plate: text
      currency: [EUR, JPY]
      paid: flag
      product: [taxi, xl, robotaxi]
      driver: { name: text, rating: number }
      stops: [{ address: text, at: time }]
      tags: [text]
      kinds: [[van, taxi]]
    """

  /// Returns the problems of a rule, with the declaration in another file.
  private func problems(_ change: String, declaredIn name: String = "z.yaml") -> [String] {
    let files = [("a.yaml", ruleFile(changing: change)), (name, Self.declaration)]
    return RuleFilesTests.problems(in: files.map { ($0.0, Array($0.1.utf8)) })
  }

  private func load(_ change: String) throws -> LoadedRules {
    let files = [("a.yaml", ruleFile(changing: change)), ("z.yaml", Self.declaration)]
    return try RuleDirectory.parse(files: files.map { ($0.0, Array($0.1.utf8)) }).get()
  }

  @Test(arguments: [
    "if: ride.attributes.product in ['taxi', 'xl'] && ride.attributes.fare + 1 > 2",
    "if: ride.attributes.fare * 2.5 > 10 || ride.attributes.fare == null",
    "if: ride.attributes.driver != null && ride.attributes.driver.rating >= 4.5",
    "if: ride.attributes.stops.exists(s, s.address == 'x' && int(s.at) > 0)",
    "if: int(ride.attributes.eta_epoch) > 0 || ride.attributes.eta_epoch > '2026'",
    "if: \"!has(ride.attributes.paid) || !ride.attributes.paid\"",
    "if: dyn(ride.attributes.fare) == 'x'",
    "if: ride.attributes['plate'].startsWith('B') && ride.attributes.plate + 'x' != ''",
    "if: \"'van' in ride.attributes.kinds && size(ride.attributes.tags) > 0\"",
    "if: size(ride.attributes) > 1 && 'fare' in ride.attributes",
    "if: ride.attributes.product == ride.attributes.plate",
    "if: last == null || last.driver.rating != ride.attributes.driver.rating"
      + "\nremember: [driver.rating, pickup_at]",
    "if: last == null || last.driver.name != 'x'\nremember: [driver]",
    "-on\nat: attributes.eta_epoch - 2m",
    "-on\nat: ride_started + attributes.free_wait",
    "alert: { title: \"{{ride.attributes.fare | currency: ride.attributes.currency}}\" }",
    "alert: { title: \"{{ride.attributes.eta_epoch | default: 0 | time}}\" }",
    "alert: { title: \"{{ride.attributes.product | select: 'xl=Big|other=Small' | upper}}\" }",
    "alert: { title: \"{{ride.attributes.product | default: '?' | select: '?=-|xl=Big|other=x'}}\" }",
    "data: { d: \"{{ride.attributes.driver}}\", e: \"{{ride.attributes}}\" }",
  ])
  func `Declared attributes may be named`(change: String) {
    #expect(problems(change) == [])
    #expect(problems(change, declaredIn: "Z.yaml") == [], "the declaration in the first file")
  }

  private static let card = "-on\n-alert\nlive-activity: { attributes-type: A, "

  /// Changes of a rule, where the problem is in it, what it is, and the word that is meant.
  private static let refused: [(change: String, place: String, found: String, nearest: String?)] = [
    (
      "if: ride.attributes.product == 'robotaxy'", "7:36",
      "\"robotaxy\" is not a word of ride.attributes.product (character 28 of if)", "robotaxi"
    ),
    (
      "if: ride.attributes.product in ['xl', 'suv']", "7:43",
      "\"suv\" is not a word of ride.attributes.product (character 35 of if)", nil
    ),
    (
      "if: ride.attributes.kinds.exists(k, k == 'bus')", "",
      "\"bus\" is not a word of k", nil
    ),
    (
      "if: \"'bus' in ride.attributes.kinds\"", "7:10",
      "\"bus\" is not a word of ride.attributes.kinds (character 1 of if)", nil
    ),
    (
      "if: ride.attributes.fare > 'x'", "7:30",
      "> of number and string (character 22 of if)", nil
    ),
    (
      "if: ride.attributes.plate + 1 == 'B1'", "7:31",
      "+ of string and int (character 23 of if)", nil
    ),
    (
      "if: ride.attributes.plate", "7:25",
      "a value of type string (character 17 of if)", nil
    ),
    (
      "if: ride.attributes.far > 3", "7:25",
      "\"far\" is not in ride.attributes (character 17 of if)", "fare"
    ),
    (
      "if: ride.attributes['far'] > 3", "7:25",
      "\"far\" is not in ride.attributes (character 17 of if)", "fare"
    ),
    (
      "if: ride.attributes.driver.nam == 'x'", "7:32",
      "\"nam\" is not in ride.attributes.driver (character 24 of if)", "name"
    ),
    (
      "if: ride.attributes.stops.exists(s, s.addres == 'x')", "",
      "\"addres\" is not in s", "address"
    ),
    (
      "if: last.plat != 'x'\nremember: [plat]", "8:16",
      "remember names \"plat\"", "plate"
    ),
    (
      "if: last.plate > 1\nremember: [plate]", "7:20",
      "> of string and int (character 12 of if)", nil
    ),
    (
      "if: last.driver.name == 'x'\nremember: [driver.rating]", "7:21",
      "\"name\" is not in last.driver (character 13 of if)", nil
    ),
    (
      "-on\nat: attributes.fare - 2m", "6:9",
      "at names attributes.fare, declared as number", nil
    ),
    (
      "-on\nat: attributes.eta_epoc - 2m", "6:9",
      "at names \"attributes.eta_epoc\"", "attributes.eta_epoch"
    ),
    (
      "-on\nat: [pickup_at, ride_started + attributes.eta_epoch]", "6:21",
      "an entry of at names attributes.eta_epoch, declared as time", nil
    ),
    (
      "alert: { title: \"{{ride.attributes.plat}}\" }", "5:24",
      "\"ride.attributes.plat\" in a placeholder of title", "ride.attributes.plate"
    ),
    (
      "alert: { title: { en: x, de: \"{{ride.attributes.driver.nam}}\" } }", "5:37",
      "\"ride.attributes.driver.nam\" in a placeholder of title.de", "ride.attributes.driver.name"
    ),
    (
      "alert: { title: \"{{ride.attributes.plate.x}}\" }", "5:24",
      "\"ride.attributes.plate.x\" in a placeholder of title", nil
    ),
    (
      "alert: { title: \"{{ride.attributes.plate | time}}\" }", "5:48",
      "\"time\" in a placeholder of title", nil
    ),
    (
      "alert: { title: \"{{ride.attributes.paid | default: 0 | currency: 'EUR'}}\" }", "5:60",
      "\"currency\" in a placeholder of title", nil
    ),
    (
      "alert: { title: \"{{ride.attributes.product | select: 'robotaxy=R|other=x'}}\" }", "5:50",
      "\"robotaxy\" in a placeholder of title", "robotaxi"
    ),
    (
      "alert: { title: \"{{ride.attributes.fare | currency: ride.attributes.curency}}\" }", "5:57",
      "\"ride.attributes.curency\" in a placeholder of title", "ride.attributes.currency"
    ),
    (
      "alert: { title: \"{{ride.attributes.fare | currency: ride.attributes.paid}}\" }", "5:57",
      "\"ride.attributes.paid\" in a placeholder of title", nil
    ),
    (
      "data: { p: \"{{ride.attributes.plat}}\" }", "7:19",
      "\"ride.attributes.plat\" in a placeholder of data.p", "ride.attributes.plate"
    ),
    (
      "collapse: \"{{ride.attributes.plat}}\"", "7:18",
      "\"ride.attributes.plat\" in a placeholder of collapse", "ride.attributes.plate"
    ),
    (
      "-alert\npost: sms\ntext: \"{{ride.attributes.plat}}\"", "7:14",
      "\"ride.attributes.plat\" in a placeholder of text", "ride.attributes.plate"
    ),
    (
      "\(card)content-state: { p: \"{{ride.attributes.plat}}\" } }", "5:65",
      "\"ride.attributes.plat\" in a placeholder of content-state.p", "ride.attributes.plate"
    ),
    (
      card
        + "attributes: { p: \"{{ride.attributes.plat}}\" }, content-state: { s: 1 } }", "5:62",
      "\"ride.attributes.plat\" in a placeholder of attributes.p", "ride.attributes.plate"
    ),
    (
      card
        + "content-state: { p: { value: \"{{ride.attributes.paid}}\", type: int } } }", "5:71",
      "content-state.p is declared as flag, its type is int", nil
    ),
    (
      "\(card)content-state: { s: 1 }, from: attributes.fare - 45m }", "5:73",
      "from names attributes.fare, declared as number", nil
    ),
    (
      "\(card)content-state: { s: 1 } }\nandroid: { countdown: \"{{ride.attributes.plate}}\" }",
      "6:27",
      "countdown is {{ride.attributes.plate}}, declared as text", nil
    ),
    (
      "\(card)content-state: { s: 1 } }\n"
        + "android: { steps: [requested], progress: \"{{ride.attributes.paid}}\" }", "6:46",
      "progress is {{ride.attributes.paid}}, declared as flag", nil
    ),
    (
      "\(card)content-state: { s: 1 } }\nandroid: { title: \"{{ride.attributes.plat}}\" }", "6:26",
      "\"ride.attributes.plat\" in a placeholder of title", "ride.attributes.plate"
    ),
  ]

  @Test(arguments: refused.indices)
  func `Others are refused, with their place and the nearest one`(index: Int) {
    let (change, place, found, nearest) = Self.refused[index]
    for name in ["z.yaml", "Z.yaml"] {
      let problems = problems(change, declaredIn: name)
      let meant = nearest.map { "; did you mean \"\($0)\"?" } ?? ""
      #expect(
        problems.count == 1 && problems[0].hasPrefix(place.isEmpty ? "a.yaml" : "a.yaml:\(place): ")
          && problems[0].contains(found) && problems[0].hasSuffix(meant)
          && problems[0].contains("did you mean") == (nearest != nil), "\(change): \(problems)")
    }
    // Without a declaration a rule names what it likes.
    if found.contains("attributes"), !found.contains("declared"), !found.contains(" of if") {
      #expect(RuleFilesTests.problems(in: ruleFile(changing: change)) == [], "\(change)")
    }
  }

  @Test func `Texts of strings and of defaults are held to the declaration, too`() {
    let rule = ruleFile(changing: "alert: { title: \"{{strings.title}}\" }")
    let defaults = "defaults: { apps: { customer: { data: { p: \"{{ride.attributes.plat}}\" } } } }"
    let files = [("a.yaml", rule), ("b.yaml", defaults), ("c.yaml", Self.declaration)]
    let strings = [("strings/en.yaml", "title: \"{{ride.attributes.far}}\"")]
    let loaded = RuleDirectory.parse(
      files: files.map { ($0.0, Array($0.1.utf8)) },
      strings: strings.map { ($0.0, Array($0.1.utf8)) })
    guard case .failure(let found) = loaded else {
      Issue.record("the undeclared names are accepted")
      return
    }
    let places = found.problems.map { "\($0.file):\($0.location.map { "\($0)" } ?? "")" }
    #expect(places == ["b.yaml:1:47", "strings/en.yaml:1:11"], "\(found)")
    #expect(found.problems.map(\.nearest) == ["ride.attributes.plate", "ride.attributes.fare"])
  }

  @Test func `They are declared in one file`() {
    let files = [("a.yaml", Self.declaration), ("b.yaml", "attributes: { fare: text }")]
    #expect(
      RuleFilesTests.problems(in: files.map { ($0.0, Array($0.1.utf8)) }) == [
        "b.yaml:1:1: attributes for the second time; expected them in one file only "
          + "(the first are at a.yaml:1:1)"
      ])
  }

  @Test func `A field of a card takes the declared type, and a stated type wins`() throws {
    let card = """
      -on
      -alert
      live-activity:
        attributes-type: A
        content-state:
          at: "{{ride.attributes.eta_epoch}}"
          fare: "{{ride.attributes.fare}}"
          label: "Fare {{ride.attributes.fare}}"
          paid: "{{ride.attributes.paid | default: null}}"
          product: "{{ride.attributes.product}}"
          stops: "{{ride.attributes.stops}}"
          whole: { value: "{{ride.attributes.fare}}", type: int }
      """
    let contract = try #require(try load(card).ruleSet.contracts.first)
    #expect(
      contract.contentState == [
        "at": CardField(.dateEpoch), "fare": CardField(.double), "label": CardField(.string),
        "paid": CardField(.bool, isOptional: true),
        "product": CardField(.words(["taxi", "xl", "robotaxi"])), "stops": CardField(.unknown),
        "whole": CardField(.int),
      ])
  }

  @Test func `A test and a story state what is declared`() throws {
    let rules = try load("on: ride_started").ruleSet
    func problems(_ attributes: String) -> [String] {
      let story = """
        given:
          ride: { state: requested, attributes: \(attributes) }
        when:
          - { at: 1m, state: ride_started }
        """
      let read = ScenarioFile.parse(
        Array(story.utf8), named: "s.yaml", for: rules, at: Timestamp(epochSeconds: 0))
      guard case .failure(let found) = read else { return [] }
      return found.problems.map(\.description)
    }
    let valid =
      "{ fare: 3, plate: B, paid: null, eta_epoch: 2026-11-21T08:00:00Z, "
      + "stops: [{ address: x, at: 1 }, {}] }"
    #expect(problems(valid) == [])
    #expect(
      problems("{ plat: B }") == [
        "s.yaml:2:43: the attribute \"plat\", which is not declared; expected one of "
          + "currency, driver, eta_epoch, fare, free_wait, kinds, paid, plate, product, stops, "
          + "tags; did you mean \"plate\"?"
      ])
    let wrong = [
      ("{ fare: x }", "2:49: the attribute fare is the text \"x\", declared as number"),
      ("{ product: x }", "2:52: the attribute product is the text \"x\", declared as [taxi, xl, "),
      ("{ driver: { rating: [1] } }", "2:61: the attribute driver.rating is a list, "),
      ("{ stops: [{ at: soon }] }", "2:57: the attribute stops.at is the text \"soon\", "),
      ("fare", "2:41: attributes is the text \"fare\""),
      ("{ driver: Ana }", "2:51: the attribute driver is the text \"Ana\", declared as a mapping"),
    ]
    for (attributes, message) in wrong {
      let found = problems(attributes)
      #expect(found.count == 1 && found[0].hasPrefix("s.yaml:\(message)"), "\(found)")
    }
  }
}
