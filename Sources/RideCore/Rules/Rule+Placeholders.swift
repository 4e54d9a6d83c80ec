extension Rule {
  /// The placeholders of all that is rendered for a push.
  package var placeholders: [Placeholder] {
    var all = payload.placeholders + (collapse?.placeholders ?? [])
    all += android?.template.placeholders ?? []
    guard case .liveActivity(let life) = what else { return all }
    all += life.android?.template.placeholders ?? []
    for changes in life.endContents.values {
      all += PayloadTemplate.object(changes).placeholders
    }
    return all + life.alerts.values.flatMap(\.template.placeholders)
  }

  /// The states whose entries its texts show.
  package var enteredStates: [String] {
    placeholders.compactMap { placeholder in
      if case .entered(let state) = placeholder.source { state } else { nil }
    }
  }
}
