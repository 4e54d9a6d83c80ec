import Base

/// `post` and `text` of a rule: an HTTP POST of JSON to a receiver of the service.
package struct Post: Hashable, Sendable {
  /// The name of the receiver, such as `sms`.
  package var receiver: String
  /// The text, in the person's language.
  package var text: LocalizedText?

  package init(receiver: String, text: LocalizedText? = nil) {
    self.receiver = receiver
    self.text = text
  }

  /// The members of the body that the rule states; `Planner.post` puts the others before them.
  package func template(data: [String: PayloadTemplate]) -> PayloadTemplate {
    .object([
      "data": .object(data), "text": text.map { .visible($0.forPeople) } ?? .literal(.null),
    ])
  }
}
