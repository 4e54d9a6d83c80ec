import Base

/// `android` next to a live-activity: what an Android phone shows of a card without code of the app.
package struct AndroidLook: Hashable, Sendable {
  /// A segment of the progress bar.
  package struct Step: Hashable, Sendable {
    /// `at`: the ride's state during the segment.
    package var state: String
    /// `label`: the text at its point.
    package var label: LocalizedText?

    package init(state: String, label: LocalizedText? = nil) {
      self.state = state
      self.label = label
    }
  }

  /// `title`: the content title.
  package var title: LocalizedText?
  /// `text`: the content text.
  package var text: LocalizedText?
  /// `short-text`: the text of the status bar's chip.
  package var shortText: LocalizedText?
  /// `color`: `#rrggbb`.
  package var color: LocalizedText?
  /// `countdown`: one placeholder, the time that the phone counts down to.
  package var countdown: TextTemplate?
  /// `progress`: one placeholder, from 0 to 1: how far the ride is within its step.
  package var progress: TextTemplate?
  /// `steps`: the segments, in order.
  package var steps: [Step] = []

  package init() {}
}

extension AndroidLook {
  /// The index of the ride's state among the steps; nil if it is none of them.
  package func step(in state: String?) -> Int? { steps.firstIndex { $0.state == state } }

  /// Everything in it that is rendered, as a template with the keys of `rp_look`.
  package var template: PayloadTemplate {
    var members: [String: PayloadTemplate] = [:]
    for (key, text) in [("title", title), ("text", text), ("short", shortText)] {
      members[key] = text.map { .visible($0.forPeople) }
    }
    members["color"] = color.map { .visible($0) }
    members["countdown"] = countdown.map {
      .field(.value($0), CardField(.dateEpoch, isOptional: true))
    }
    members["fraction"] = progress.map {
      .field(.value($0), CardField(.double, isOptional: true))
    }
    if steps.contains(where: { $0.label != nil }) {
      members["labels"] = .array(
        steps.map { $0.label.map { .visible($0.forPeople) } ?? .literal(.string("")) })
    }
    return .object(members)
  }
}
