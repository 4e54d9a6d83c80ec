/// `android` next to an alert or a background push: what Apple has no word for.
package struct AndroidStyle: Hashable, Sendable {
  /// Who draws an alert.
  package enum Drawing: String, CaseIterable, Hashable, Sendable {
    /// The app, from a data message.
    case app
    /// Android, from a notification message; the app does not run unless it is open.
    case system
  }

  /// `draw`; nil leaves it to what the alert needs.
  package var draw: Drawing?
  /// `channel`: the notification channel; nil takes the one of the alert's level and sound.
  package var channel: String?
  /// `image`: an https URL.
  package var image: LocalizedText?
  /// `click-action`: the action of the intent that a tap starts.
  package var clickAction: LocalizedText?
  /// `priority`: whether it wakes the phone; nil takes the rule's priority.
  package var isHighPriority: Bool?

  package init() {}
}

extension AndroidStyle {
  /// Everything in it that is rendered, as a template.
  package var template: PayloadTemplate {
    var members: [String: PayloadTemplate] = [:]
    members["image"] = image.map { .visible($0) }
    members["click_action"] = clickAction.map { .visible($0) }
    return .object(members)
  }
}
