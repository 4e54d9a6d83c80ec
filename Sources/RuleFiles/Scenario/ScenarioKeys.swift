import Base
import RideCore
import Timeline

/// The mappings of a story file, which test files share. Their keys are those that the decoder asks
/// for; `docs/testing-rules.md` describes them.
enum ScenarioKeys {
  static let file = MappingForm("a story file") { decoder.story($0, at: start) }
  static let faults = MappingForm("a faults file") { decoder.faults($0, from: start) }
  static let given = MappingForm("given") { decoder.given($0, at: start) }
  static let ride = MappingForm("ride") { decoder.ride($0, at: start) }
  static let phone = MappingForm("a phone") {
    (decoder.phone($0, 0, of: scenario), decoder.screen($0, of: screenPhone))
  }
  static let card = MappingForm("a card") { decoder.card($0, 0, of: scenario) }
  static let startToken = MappingForm("a push-to-start token") {
    decoder.startToken($0, 0, of: scenario)
  }
  static let participant = MappingForm("a participant") { decoder.participant($0) }
  static let preference = MappingForm("a preference") { decoder.preference($0, nil) }
  static let contact = MappingForm("a contact") { fields in
    var scenario = scenario
    decoder.addContact(fields, to: &scenario)
  }
  static let step = MappingForm("an entry of when") {
    decoder.step($0, from: start, after: nil, of: nil)
  }
  static let answer = MappingForm("apns") { decoder.answer($0, start) }
  static let fcmAnswer = MappingForm("fcm") { decoder.fcmAnswer($0, start) }

  private static let start = Timestamp(epochSeconds: 0)

  private static var scenario: Scenario {
    Scenario(start: start, view: RideView(rideID: "", ride: nil, phones: []))
  }

  private static var screenPhone: ScenarioPhone {
    ScenarioPhone(name: nil, id: 0, platform: .ios, start: start)
  }

  private static var decoder: ScenarioDecoder {
    ScenarioDecoder(diagnostics: .unused, rules: .none)
  }
}

extension RuleSet {
  /// The rules of a file that is about none.
  static let none = RuleSet(activeStates: [], finalStates: [], events: [], rules: [])
}
