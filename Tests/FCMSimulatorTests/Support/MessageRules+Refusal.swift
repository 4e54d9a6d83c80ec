@testable import FCMSimulator
@testable import SimulatorKit

extension MessageRules {
  /// Returns what FCM answers to a request with this text; nil if it accepts it.
  static func refusal(_ text: String, _ strictness: Strictness) throws -> Refusal? {
    let json = try JSONParser.parse(Array(text.utf8))
    do throws(Refusal) {
      try check(Message(json), strictness)
      return nil
    } catch {
      return error
    }
  }
}
