import Foundation

@testable import RideCore
@testable import RuleFiles

/// The JSON Schema (draft 2020-12) of rule files, made from the key table.
enum KeySchema {
  typealias Schema = [String: Any]

  /// Returns the schema as the text of a file.
  static func document() throws -> String {
    var schema = mapping(KeyTable.file)
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "RidePulse rule file"
    schema["$defs"] = [
      "value": [
        "propertyNames": ["not": ["pattern": #"\{\{"#]],
        "additionalProperties": ["$ref": "#/$defs/value"], "items": ["$ref": "#/$defs/value"],
      ] as Schema,
      // A mapping with the key `value` is a typed field.
      "field": [
        "if": ["type": "object", "required": ["value"]], "then": mapping(KeyTable.cardField),
        "else": ["$ref": "#/$defs/fields"],
      ] as Schema,
      "type": fieldType, "attribute": attributeType,
      "fields": [
        "propertyNames": ["not": ["pattern": #"\{\{"#]],
        "additionalProperties": ["$ref": "#/$defs/field"], "items": ["$ref": "#/$defs/field"],
      ] as Schema,
    ]
    let json = try JSONSerialization.data(
      withJSONObject: schema, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
    return String(decoding: json, as: UTF8.self) + "\n"
  }

  private static func mapping(_ form: MappingForm) -> Schema {
    var properties: Schema = [:]
    var needed: [String: [String]] = [:]
    var dependent: Schema = [:]
    var excluded: [String: Schema] = [:]
    for key in form.keys {
      properties[key.name] = value(key.form).merging(["description": key.summary]) { $1 }
      if let partner = key.partner { needed[key.name] = [partner.name] }
      if !key.nextTo.isEmpty {
        dependent[key.name] = ["anyOf": key.nextTo.map { presence(of: $0, in: form) }]
      }
      for other in key.excludedBy { excluded[other, default: [:]][key.name] = false }
    }
    var all = form.exactlyOne.map { group -> Schema in
      ["oneOf": group.map { presence(of: $0, in: form) }]
    }
    if !form.atLeastOne.isEmpty {
      all.append(["anyOf": form.atLeastOne.map { presence(of: $0, in: form) }])
    }
    for (other, properties) in excluded.sorted(by: { $0.key < $1.key }) {
      all.append(["if": presence(of: other, in: form), "then": ["properties": properties]])
    }
    var schema: Schema = [
      "type": "object", "additionalProperties": false, "properties": properties,
    ]
    // A key that depends on what the rule sends is required next to it, and not without it. What
    // an app's defaults may state is never required, because they may be in another file.
    let isRule = form.subject == KeyTable.rule.subject
    let required = form.keys.filter {
      $0.required != nil && !(isRule && KeyTable.app.names.contains($0.name))
    }
    for key in required where !key.nextTo.isEmpty {
      all.append([
        "if": [
          "anyOf": key.nextTo.filter { !key.optionalNextTo.contains($0) }
            .map { presence(of: $0, in: form) }
        ],
        "then": ["required": [key.name]],
      ])
    }
    let always = required.filter(\.nextTo.isEmpty).map(\.name)
    if !always.isEmpty { schema["required"] = always }
    if !needed.isEmpty { schema["dependentRequired"] = needed }
    if !dependent.isEmpty { schema["dependentSchemas"] = dependent }
    if !all.isEmpty { schema["allOf"] = all }
    return schema
  }

  /// Returns the schema of mappings that have a key; a flag must be true.
  private static func presence(of name: String, in form: MappingForm) -> Schema {
    guard case .flag = form[name]?.form else { return ["required": [name]] }
    return ["required": [name], "properties": [name: ["const": true]]]
  }

  /// A time of `at`: the base, and an offset, which only a time of the ride has before it.
  private static var time: Schema {
    let path = #"attributes(\.[^. ]+)+"#
    let offset = #"(\#(path)|0s|(?=[^ ]*[1-9])(\d+d)?(\d+h)?(\d+m)?(\d+s)?)"#
    let event = #"(?!(pickup_at|contact|attributes)( |$)|attributes\.)[A-Za-z0-9_.-]{1,64}"#
    return pattern(
      #"^ *((pickup_at|\#(path))( +[+-] +\#(offset))?|contact +\+ +(?!0s)\#(offset)"#
        + #"|\#(event)( +\+ +\#(offset))?) *$"#)
  }

  private static func value(_ form: ValueForm) -> Schema {
    switch form {
    case .word(let form): word(form)
    case .words: list(of: word(.event), ["minItems": 1, "uniqueItems": true])
    case .oneOrMore(let form, _):
      ["anyOf": [word(form), list(of: word(form), ["minItems": 1, "uniqueItems": true])]]
    case .oneOrMoreWords: ["anyOf": [word(.event), value(.words)]]
    case .text: ["type": "string", "pattern": #"\S"#]
    case .localizedText: ["anyOf": [text, map(to: text, keys: locale, ["minProperties": 1])]]
    case .texts: list(of: text)
    case .flag: ["type": "boolean"]
    case .choice(let words): ["enum": words]
    case .integer(let range): integer(range)
    case .priority: ["enum": [10, 5, 1]]
    case .one: ["const": 1]
    case .number(let range, _):
      range.map { ["type": "number", "minimum": $0.lowerBound, "maximum": $0.upperBound] }
        ?? ["type": "number"]
    case .badge:
      ["anyOf": [["type": "integer", "minimum": 0], pattern(#"^\{\{.*\}\}$"#)]]
    case .duration: duration
    case .periodOrRide: ["anyOf": [duration, ["const": "ride"]]]
    case .delay: ["anyOf": [duration, ["const": "0s"]]]
    case .times: ["anyOf": [time, list(of: time, ["minItems": 1, "uniqueItems": true])]]
    case .expiry: ["anyOf": [duration, ["const": "never-store"]]]
    case .expression: text
    case .attributeTypes: attributeTypes
    case .attributes:
      ["anyOf": [attribute, list(of: attribute, ["minItems": 1, "maxItems": 10])]]
    case .rideTime: pattern(#"^(pickup_at|attributes(\.[^.]+)+)$"#)
    case .cron: pattern(#"^\s*(\S+\s+){4}\S+\s*$"#)
    case .timeZone, .zoneOfQuietHours, .zoneName: ["type": "string"]
    case .timeOfDay: pattern("^([01][0-9]|2[0-3]):[0-5][0-9]$")
    case .missed: missed
    case .ends(let form, _, _):
      [
        "anyOf": [
          value(.oneOrMoreWords),
          map(
            to: ["anyOf": [duration, ["const": "0s"], mapping(form)]], keys: word(.event),
            ["minProperties": 1]),
        ]
      ]
    case .durationByState: ["anyOf": [duration, map(to: duration, keys: word(.event))]]
    case .opening: opening
    case .fieldType: ["$ref": "#/$defs/type"]
    case .numberByEvent: map(to: ["type": "number"], keys: word(.event))
    case .typeName: pattern(#"^[^\s\d.-][^\s-]*$"#)
    case .payload(let reserved): payload(reserved)
    case .cardFields: ["type": "object", "$ref": "#/$defs/fields"]
    case .fieldValue: ["$ref": "#/$defs/fields"]
    case .emptyMapping: ["type": "object", "maxProperties": 0]
    case .mapping(let form): mapping(form)
    case .mappingNextTo(let forms): ["anyOf": forms.map { mapping($0.form) }]
    case .placeholder: pattern(#"^\{\{.*\}\}$"#)
    case .steps(let form):
      list(of: ["anyOf": [word(.event), mapping(form)]], ["minItems": 1, "uniqueItems": true])
    case .offOrMapping(let form): ["anyOf": [["const": "off"], mapping(form)]]
    case .textOrMapping(let expected, let form):
      ["anyOf": [value(.text(expected: expected)), mapping(form)]]
    case .mappings(let form): list(of: mapping(form))
    case .mappingByApp(let form): map(to: mapping(form), keys: word(.app))
    case .mappingByEvent(let form): map(to: mapping(form), keys: word(.event))
    }
  }

  private static var attributeTypes: Schema {
    map(
      to: ["$ref": "#/$defs/attribute"] as Schema, keys: word(.attribute), ["minProperties": 1])
  }

  /// The type of an attribute; a list of a single name of a type is a list of values of it.
  private static var attributeType: Schema {
    let names: Schema = ["enum": AttributeType.named.map(\.name)]
    let one: Schema = ["minItems": 1, "maxItems": 1]
    return [
      "anyOf": [
        names, value(.words), attributeTypes,
        list(of: ["$ref": "#/$defs/attribute"] as Schema, one),
      ]
    ]
  }

  private static var opening: Schema {
    pattern(
      #"^(pickup_at|attributes(\.[^. ]+)+)( [-+] (?=.*[1-9])(\d+d)?(\d+h)?(\d+m)?(\d+s)?)?$"#)
  }

  /// The type of a card's field.
  private static var fieldType: Schema {
    let names: Schema = ["enum": DeclaredType.allCases.map(\.rawValue)]
    let element: Schema = [
      "if": ["type": "object"], "then": mapping(KeyTable.elementField),
      "else": ["$ref": "#/$defs/type"],
    ]
    let fields: Schema = [
      "type": "array", "minItems": 1, "maxItems": 1,
      "items": ["type": "object", "minProperties": 1, "additionalProperties": element] as Schema,
    ]
    return ["anyOf": [names, value(.words), fields]]
  }

  private static var attribute: Schema {
    let columns = Placeholder.RideField.allCases.map(\.rawValue).joined(separator: "|")
    let wrong = #"attributes$|ride\.attributes(\.|$)|ride\.(\#(columns))$"#
    return pattern(#"^(?!\#(wrong))[^\s{.]+(\.[^\s{.]+)*$"#)
  }
  private static var text: Schema { value(.text(expected: "")) }
  private static var duration: Schema { pattern(#"^(?=.*[1-9])(\d+d)?(\d+h)?(\d+m)?(\d+s)?$"#) }
  private static var locale: Schema {
    pattern(#"^(default|[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*)$"#)
  }

  private static var missed: Schema {
    let bounded: Schema = [
      "type": "object", "additionalProperties": false, "required": ["all"],
      "properties": ["all": integer(KeyTable.missedBounds)],
    ]
    return ["anyOf": [["enum": ["skip", "latest", "all"]], bounded]]
  }

  private static func pattern(_ pattern: String) -> Schema {
    ["type": "string", "pattern": pattern]
  }

  private static func word(_ form: WordForm) -> Schema {
    let letters =
      switch form {
      case .ruleName: "a-z0-9-"
      case .app: "a-z0-9_-"
      case .topic, .receiver: "a-z0-9_-"
      case .locale: "A-Za-z0-9_-"
      case .channel: "a-z0-9_.-"
      case .event: "A-Za-z0-9_.-"
      case .attribute: "A-Za-z0-9_-"
      }
    return pattern("^[\(letters)]{1,\(form.longest)}$")
  }

  private static func integer(_ range: ClosedRange<Int64>) -> Schema {
    ["type": "integer", "minimum": range.lowerBound, "maximum": range.upperBound]
  }

  private static func list(of items: Schema, _ more: Schema = [:]) -> Schema {
    more.merging(["type": "array", "items": items]) { $1 }
  }

  private static func map(to values: Schema, keys: Schema, _ more: Schema = [:]) -> Schema {
    more.merging(["type": "object", "propertyNames": keys, "additionalProperties": values]) { $1 }
  }

  private static func payload(_ reserved: String?) -> Schema {
    let schema: Schema = ["type": "object", "$ref": "#/$defs/value"]
    return reserved.map { schema.merging(["properties": [$0: false]]) { $1 } } ?? schema
  }
}
