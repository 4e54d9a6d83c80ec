/// Counts the JSON types of the fields that cards were sent, as the payloads have them.
///
/// The ledger keeps no payload. A type is counted for each push that APNs accepted; the fields of a
/// card come in one order, so that counting finds each where it expects it and allocates nothing.
package struct CardTypeTally: Sendable {
  /// The type of a field's value in JSON.
  package enum JSONType: String, CaseIterable, Hashable, Sendable {
    case string
    /// A number without a fraction.
    case int
    /// A number that has one, or an exponent.
    case fraction
    case bool
    case null
    case list
    case object
  }

  /// A field that had values of one type.
  package struct Line: Hashable, Sendable {
    package var attributesType: String
    /// The field with its part of the payload: `content-state.eta`.
    package var field: String
    package var type: JSONType
    package var count: Int64

    package init(attributesType: String, field: String, type: JSONType, count: Int64) {
      (self.attributesType, self.field) = (attributesType, field)
      (self.type, self.count) = (type, count)
    }
  }

  fileprivate struct Field: Sendable {
    var part: CardPayload.Part
    var name: [UInt8]
    var counts = [Int64](repeating: 0, count: JSONType.allCases.count)
  }

  private var fields: [String: [Field]] = [:]

  package init() {}

  package var isEmpty: Bool { fields.isEmpty }

  /// Counts the pushes of a decision that APNs accepted.
  ///
  /// - Parameter attributesType: Returns the type of a card rule; nil if the rule has none.
  package mutating func add(
    _ decision: Decision, _ outcomes: [PushOutcome], attributesType: (String) -> String?
  ) {
    for (push, outcome) in zip(decision.pushes, outcomes) {
      guard push.entry.cardEvent != nil, outcome == .accepted,
        let type = attributesType(push.entry.rule)
      else { continue }
      add(push.payload, of: type)
    }
  }

  /// Counts the fields of a card's payload.
  package mutating func add(_ payload: [UInt8], of type: String) {
    // The default is written back in place: the arrays are not copied.
    Self.count(payload, in: &fields[type, default: []])
  }

  private static func count(_ payload: [UInt8], in fields: inout [Field]) {
    var expected = 0
    CardPayload.forEachField(of: payload) { part, name, type in
      let index =
        fields.indices.contains(expected) && fields[expected].matches(part, name)
        ? expected : fields.firstIndex { $0.matches(part, name) } ?? fields.count
      if index == fields.count { fields.append(Field(part: part, name: Array(name))) }
      fields[index].counts[type.index] += 1
      expected = index + 1
    }
  }

  /// The counts, in the order of types and fields.
  package var lines: [Line] {
    fields.flatMap { type, fields in
      fields.flatMap { field in
        JSONType.allCases.compactMap { json in
          let count = field.counts[json.index]
          if count == 0 { return nil }
          let name = "\(field.part.rawValue).\(String(decoding: field.name, as: UTF8.self))"
          return Line(attributesType: type, field: name, type: json, count: count)
        }
      }
    }
    .sorted {
      ($0.attributesType, $0.field, $0.type.index) < ($1.attributesType, $1.field, $1.type.index)
    }
  }
}

extension CardTypeTally.Field {
  fileprivate func matches(_ part: CardPayload.Part, _ name: ArraySlice<UInt8>) -> Bool {
    self.part == part && self.name.elementsEqual(name)
  }
}

extension CardTypeTally.JSONType {
  fileprivate var index: Int {
    switch self {
    case .string: 0
    case .int: 1
    case .fraction: 2
    case .bool: 3
    case .null: 4
    case .list: 5
    case .object: 6
    }
  }
}

/// Finds the fields in the payload of a card.
enum CardPayload {
  enum Part: String, Sendable {
    case attributes
    case contentState = "content-state"
  }

  /// Calls `body` with each field's name as JSON has it between the quotes, and its value's type.
  ///
  /// A payload is valid JSON. If it were not, the fields up to the fault are found.
  static func forEachField(
    of payload: [UInt8],
    _ body: (_ part: Part, _ name: ArraySlice<UInt8>, _ type: CardTypeTally.JSONType) -> Void
  ) {
    var scan = CardPayloadScan(payload)
    scan.forEachMember { scan, name in
      guard name.elementsEqual("aps".utf8) else { return scan.skipValue() }
      scan.forEachMember { scan, name in
        let part: Part
        if name.elementsEqual(Part.contentState.rawValue.utf8) {
          part = .contentState
        } else if name.elementsEqual(Part.attributes.rawValue.utf8) {
          part = .attributes
        } else {
          return scan.skipValue()
        }
        scan.forEachMember { scan, name in
          guard let type = scan.type else { return scan.skipValue() }
          body(part, name, type)
          scan.skipValue()
        }
      }
    }
  }
}

/// A position in JSON that is known to be valid, and compact.
private struct CardPayloadScan {
  private let text: [UInt8]
  private var index = 0

  init(_ text: [UInt8]) { self.text = text }

  private var next: UInt8? { index < text.count ? text[index] : nil }

  /// Calls `body` at the value of each member of the object here; `body` moves past the value.
  mutating func forEachMember(_ body: (inout CardPayloadScan, ArraySlice<UInt8>) -> Void) {
    guard next == UInt8(ascii: "{") else { return skipValue() }
    index += 1
    while next == UInt8(ascii: "\"") {
      let start = index + 1
      skipString()
      let name = text[min(start, text.count)..<max(min(start, text.count), index - 1)]
      index += 1
      body(&self, name)
      if next == UInt8(ascii: ",") { index += 1 }
    }
    index += 1
  }

  /// The type of the value here; nil at the end of the text.
  var type: CardTypeTally.JSONType? {
    switch next {
    case UInt8(ascii: "\""): return .string
    case UInt8(ascii: "{"): return .object
    case UInt8(ascii: "["): return .list
    case UInt8(ascii: "t"), UInt8(ascii: "f"): return .bool
    case UInt8(ascii: "n"): return .null
    case nil: return nil
    default:
      for byte in text[index...] {
        switch byte {
        case UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"): return .fraction
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): continue
        default: return .int
        }
      }
      return .int
    }
  }

  mutating func skipValue() {
    var depth = 0
    while let byte = next {
      switch byte {
      case UInt8(ascii: "\""):
        skipString()
        continue
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        if depth == 0 { return }
        depth -= 1
      case UInt8(ascii: ",") where depth == 0: return
      default: break
      }
      index += 1
    }
  }

  private mutating func skipString() {
    index += 1
    while let byte = next, byte != UInt8(ascii: "\"") {
      index += byte == UInt8(ascii: "\\") ? 2 : 1
    }
    index += 1
  }
}
