import RideCore

/// One property of a generated type, in any language.
struct GeneratedProperty {
  var key: String
  var name: String
  var type: String
  /// A value for previews.
  var sample: String
  var field: CardField
  /// The function that reads it, in a language whose decoder is generated, too.
  var reader = ""

  /// What a reader of the type can't see in it; nil if there is nothing.
  var remark: String? {
    var sentences: [String] = []
    if field.type == .dateEpoch { sentences.append("Seconds since 1970.") }
    if let since = field.since, since > 1 {
      sentences.append("Since version \(since) of the contract: a card of an earlier one lacks it.")
    }
    return sentences.isEmpty ? nil : sentences.joined(separator: " ")
  }
}

/// A property of a generated type that gives another one as a date.
struct GeneratedDate {
  var name: String
  var source: GeneratedProperty

  /// Returns a date for each property that is one, with names that the scope does not have yet.
  static func all(of properties: [GeneratedProperty], in names: inout NameScope) -> [GeneratedDate]
  {
    var dates: [GeneratedDate] = []
    for property in properties where property.field.type == .dateEpoch {
      let name = property.name
      let stem = name.hasSuffix("Epoch") ? String(name.dropLast(5)) : name
      dates.append(GeneratedDate(name: names.property(stem + "Date"), source: property))
    }
    return dates
  }
}
