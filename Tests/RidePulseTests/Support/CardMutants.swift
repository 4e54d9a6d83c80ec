import RideCore

extension CardContract {
  /// Words of every kind that an app's language does not take as they are, or that are one name in it.
  static let oddWords = [
    "AT_PICKUP", "at_pickup", "atPickup", "default", "init", "self", "Type", "none", "some",
    "known",
    "Known", "unknown", "rawValue", "in transit", "1st", "", "größe", "List", "String", "$x",
    "a\"b",
  ]

  /// Keys of every kind that an app's language does not take as they are.
  static let odd = CardContract(
    typeName: "Odd.OddAttributes",
    attributes: ["self": CardField(.string), "sample": CardField(.int), "ride": CardField(.state)],
    contentState: [
      "driver_name": CardField(.string), "driverName": CardField(.string), "URL": CardField(.int),
      "URLOfMap": CardField(.int), "1st": CardField(.bool), "": CardField(.bool),
      "a.b\"\\\n": CardField(.double), "größe": CardField(.double), "default": CardField(.int),
      "init": CardField(.int), "hashValue": CardField(.int), "type": CardField(.string),
      "eta": CardField(.dateEpoch), "eta_date": CardField(.dateEpoch, isOptional: true),
      "gate": CardField(.string, since: 2), "any": CardField(.unknown),
      "maybe": CardField(.unknown, isOptional: true), "things": CardField(.list(nil)),
      "bag": CardField(.object(nil)), "flags": CardField(.list(.list(.bool))),
      "date": CardField(.object(["time": CardField(.dateEpoch)])),
      "stops": CardField(.list(.object(["name": CardField(.string), "state": CardField(.state)]))),
      "car": CardField(.object(["plate_no": CardField(.string)]), isOptional: true),
      "phase": CardField(.words(oddWords)), "let": CardField(.int), "var": CardField(.int),
      "inout": CardField(.int),
      "stop": CardField(
        .object(["stop": CardField(.object(["a": CardField(.int)])), "other": CardField(.int)])),
      "a\nb": CardField(.object(["a": CardField(.int)])),
      "日本": CardField(.object(["a": CardField(.int)])),
    ])

  /// The contract with each field's type changed in turn, and what was changed.
  var mutants: [(name: String, contract: CardContract)] {
    let others: [FieldType] = [.string, .int, .bool, .list(nil)]
    return contentState.sorted { $0.key < $1.key }.flatMap { key, field in
      others.filter { !$0.decodes(field.type) }.map { type in
        (
          "\(key) as \(type.word)",
          with(key, CardField(type, isOptional: field.isOptional, since: field.since))
        )
      }
    } + [("a key that no rule sends", with("gate", CardField(.string)))]
  }

  private func with(_ key: String, _ field: CardField) -> CardContract {
    var contract = self
    contract.contentState[key] = field
    return contract
  }
}
