import Base
import RideCore
import Timeline

// What is about a phone's screen alone: its name, when it is away, and when a Focus is on.

extension ScenarioDecoder {
  /// - Parameter phone: what is known of it otherwise.
  func screen(_ fields: Fields, of phone: ScenarioPhone) -> ScenarioPhone {
    var phone = phone
    phone.name = fields.value("name", .plainText)
    phone.away = fields.value("away", Self.ranges(from: phone.start)) ?? []
    phone.focus = fields.value("focus", Self.ranges(from: phone.start)) ?? []
    if !isOfTest {
      for field in fields.present(["name", "away", "focus"]) {
        fields.reportMisplaced(
          field, "outside a test", expected: "it in a test only, whose screens it is about")
      }
    }
    return phone
  }

  /// Reports the name of a phone that another one has.
  func checkName(_ fields: Fields, of phone: ScenarioPhone, in scenario: Scenario) {
    guard let name = phone.name else { return }
    guard scenario.phones.contains(where: { $0.name == name }) else { return }
    diagnostics.report(
      fields.location(of: "name"), "the phone \(quoted(name)) for the second time",
      expected: "a name of its own")
  }

  /// A list such as `[2m..12m]`, in the order of time.
  private static func ranges(from start: Timestamp) -> ValueType<[Range<Timestamp>]> {
    ValueType(.words) { field in
      guard case .sequence(let nodes) = field.node.kind else {
        return field.refused("a list such as [2m..12m]")
      }
      var ranges: [Range<Timestamp>] = []
      for node in nodes {
        guard let range = node.string.flatMap({ range($0, from: start) }) else {
          field.diagnostics.reportType(
            of: node, for: field.name,
            expected: "two durations after the start, the later one last, such as 2m..12m")
          continue
        }
        if let last = ranges.last, range.lowerBound <= last.upperBound {
          field.diagnostics.report(
            node.location, "\(field.name) begins before the one in front of it has ended",
            expected: "times in their order, with a pause between them")
        }
        ranges.append(range)
      }
      return ranges
    }
  }

  private static func range(_ text: String, from start: Timestamp) -> Range<Timestamp>? {
    guard let dots = text.firstRange(of: "..") else { return nil }
    func time(_ text: Substring) -> Timestamp? {
      text == "0s" ? start : Duration(rideText: String(text)).map { start + $0 }
    }
    guard let lower = time(text[..<dots.lowerBound]), let upper = time(text[dots.upperBound...]),
      lower < upper
    else { return nil }
    return lower..<upper
  }
}
