import Base
import RideCore
import Timeline

/// The mappings of a test file; `given` and `when` are those of a story. Their keys are those that the
/// decoder asks for; `docs/testing-rules.md` describes them.
enum RuleTestKeys {
  static let file = MappingForm("a test file") {
    (RuleTestLoader.schedules($0), decoder.tests($0))
  }
  static let test = MappingForm("a test") { decoder.test($0, given: nil) }
  static let never = MappingForm("never") { NeverDecoder.limits($0) }
  static let push = MappingForm("an entry of then") {
    (decoder.push($0, blank), decoder.screen($0))
  }
  static let screen = MappingForm("a screen") { fields in
    var screen = ExpectedScreen(
      location: fields.location, at: RuleTestDecoder.usualStart, phone: "")
    ScreenDecoder(diagnostics: .unused, test: blank).add(fields, to: &screen)
  }
  static let headers = MappingForm("push") { fields in
    var push = ExpectedPush(location: fields.location, at: RuleTestDecoder.usualStart, rule: "")
    decoder.addHeaders(fields, to: &push)
  }
  static let rhythm = MappingForm("then") {
    decoder.rhythm($0, at: $0.location, blank)
  }
  static let silence = MappingForm("an entry of not-sent") { decoder.silence($0, blank) }

  private static var blank: RuleTest {
    RuleTest(
      name: "", location: SourceLocation(line: 1, column: 1),
      scenario: Scenario(
        start: RuleTestDecoder.usualStart, view: RideView(rideID: "", ride: nil, phones: [])))
  }

  private static var decoder: RuleTestDecoder {
    RuleTestDecoder(diagnostics: .unused, rules: .none, allowsIncomplete: true)
  }
}
