import Base

/// A payload split into constant parts, which are encoded once, and parts to be filled in.
struct CompiledPayload: Sendable {
  private enum Piece {
    case bytes([UInt8])
    case value(TextTemplate)
    /// A text for people; the fallback chooses among the languages.
    case visible([TextTemplate], [TextDirection], LocaleFallback, key: String)
    /// A text that must not be empty, and that a program reads.
    case word(TextTemplate, key: String)
    /// A field of a card whose value may be of another type.
    case typed(TextTemplate, FieldType, path: String)
    /// A field of a card that is null if it has no value that can be sent.
    case optional([Piece])
    /// A constant that is not of its field's type.
    case failure(RenderingError)
  }

  private var pieces: [Piece] = []

  /// The values of a card's fields of type `state`.
  private let states: Set<String>

  /// Whether phones with different locales may receive different texts.
  private(set) var isLocalized = false

  /// The clocks by which it shows times.
  private(set) var clocks: Set<WallClock.Owner> = []

  /// Whether phones may receive different texts because of their locales or zones.
  var variesByPhone: Bool { isLocalized || clocks.contains(.phone) }

  /// Whether people may receive different texts in one locale.
  private(set) var readsMe = false

  /// `defaults.locale` of the rule files.
  private let defaultLocale: String?

  /// - Parameter key: the key of the value, for messages; "" for a whole payload.
  init(_ template: PayloadTemplate, key: String = "", defaultLocale: String? = nil) {
    states = []
    self.defaultLocale = defaultLocale
    append(template, key: key, path: nil)
  }

  /// Prepares the fields of a card, each of which is sent in its type or not at all.
  ///
  /// - Parameter path: where the fields are, for messages, such as `content-state`.
  init(
    fields: [String: PayloadTemplate], path: String, states: Set<String>,
    defaultLocale: String? = nil
  ) {
    self.states = states
    self.defaultLocale = defaultLocale
    append(.object(fields), key: "", path: path)
  }

  private init(states: Set<String>, defaultLocale: String?) {
    self.states = states
    self.defaultLocale = defaultLocale
  }

  /// Returns the JSON for one ride, event and locale.
  func render(in context: TemplateContext, locale: String?) throws(RenderingError) -> [UInt8] {
    var broken: [RenderingError] = []
    return try render(in: context, locale: locale, broken: &broken)
  }

  /// Returns the JSON for one ride, event and locale.
  ///
  /// - Parameter broken: gets why optional fields of a card are null although they have a value.
  func render(
    in context: TemplateContext, locale: String?, broken: inout [RenderingError]
  ) throws(RenderingError) -> [UInt8] {
    var json: [UInt8] = []
    json.reserveCapacity(512)
    try render(pieces, in: context, locale, to: &json, &broken)
    return json
  }

  /// Returns a number of bytes that the JSON does not exceed, in a fraction of the time of rendering
  /// it; nil if only rendering shows its size.
  func sizeBound(in context: TemplateContext) -> Int? {
    var bound = 0
    for piece in pieces {
      switch piece {
      case .bytes(let bytes): bound += bytes.count
      case .value(let template), .typed(let template, _, _):
        guard let size = context.sizeBound(of: template) else { return nil }
        bound += size
      case .visible, .word, .optional, .failure: return nil
      }
    }
    return bound
  }

  private func render(
    _ pieces: [Piece], in context: TemplateContext, _ locale: String?, to json: inout [UInt8],
    _ broken: inout [RenderingError]
  ) throws(RenderingError) {
    for piece in pieces {
      switch piece {
      case .bytes(let bytes): json += bytes
      case .value(let template): Self.append(try context.json(of: template), to: &json)
      case .visible(let texts, let directions, let fallback, let key):
        let choice = fallback.choice(for: locale)
        let text = try context.text(
          of: texts[choice.index], in: choice.formats, directions[choice.index])
        if text.isBlank { throw .emptyText(key) }
        Self.append(.string(text), to: &json)
      case .word(let template, let key):
        let text = try context.text(of: template)
        if text.isBlank { throw .emptyText(key) }
        Self.append(.string(text), to: &json)
      case .typed(let template, let type, let path):
        let value = try context.json(of: template)
        // An empty column is no value, as for `default`.
        if value == .string(""), type != .string, type != .state { throw .missing(path) }
        // Null comes only from `default: null`, which makes the field optional.
        let fitting =
          value == .null ? value : try type.fitting(value, at: path, states: states)
        Self.append(fitting, to: &json)
      case .optional(let pieces):
        let start = json.count
        do throws(RenderingError) {
          try render(pieces, in: context, locale, to: &json, &broken)
        } catch {
          // A broken value costs its own field, and nothing else of the ride's state.
          if case .missing = error {} else { broken.append(error) }
          json.removeSubrange(start...)
          json += "null".utf8
        }
      case .failure(let error): throw error
      }
    }
  }

  /// - Parameters:
  ///   - key: the last key above the value.
  ///   - path: where the value is in a card; nil if the payload is not a card's.
  private mutating func append(_ template: PayloadTemplate, key: String, path: String?) {
    switch template {
    case .literal(let value): append(value.json)
    case .value(let text):
      clocks.formUnion(text.clocks)
      readsMe = readsMe || text.readsMe
      let (type, isCertain) = text.inferred
      if let literal = text.literalText { return append(JSONValue.string(literal).json) }
      var piece = Piece.value(text)
      if let path, type == .state || !isCertain && type != .unknown {
        piece = .typed(text, type, path: path)
      }
      // `default: null` makes a card's field optional.
      let isOptional = path != nil && text.solePlaceholder?.isNullable == true
      pieces.append(isOptional ? .optional([piece]) : piece)
    case .visible(let texts): append(texts, key: key)
    case .object(let members):
      append([UInt8(ascii: "{")])
      for (index, member) in members.sorted(by: { $0.key < $1.key }).enumerated() {
        if index > 0 { append([UInt8(ascii: ",")]) }
        append(JSONValue.string(member.key).json + [UInt8(ascii: ":")])
        append(member.value, key: member.key, path: path.map { "\($0).\(member.key)" })
      }
      append([UInt8(ascii: "}")])
    case .array(let elements):
      append([UInt8(ascii: "[")])
      for (index, element) in elements.enumerated() {
        if index > 0 { append([UInt8(ascii: ",")]) }
        append(element, key: key, path: path.map { "\($0)[\(index)]" })
      }
      append([UInt8(ascii: "]")])
    case .field(let value, let field): append(value, as: field, key: key, path: path ?? key)
    }
  }

  private mutating func append(_ texts: LocalizedText, key: String) {
    isLocalized = isLocalized || texts.isLocalized
    for (_, text) in texts.texts { clocks.formUnion(text.clocks) }
    readsMe = readsMe || texts.texts.contains(where: \.text.readsMe)
    if texts.texts.count == 1, let literal = texts.texts[0].text.literalText,
      !literal.isBlank
    {
      append(JSONValue.string(literal).json)
    } else if texts.isForPeople {
      let fallback = LocaleFallback(texts.texts.map(\.locale), default: defaultLocale)
      let directions = texts.texts.map { TextDirection(of: $0.text, locale: $0.locale) }
      pieces.append(.visible(texts.texts.map(\.text), directions, fallback, key: key))
    } else {
      pieces.append(.word(texts.texts[0].text, key: key))
    }
  }

  private mutating func append(
    _ value: PayloadTemplate, as field: CardField, key: String, path: String
  ) {
    var inner = CompiledPayload(states: states, defaultLocale: defaultLocale)
    switch value {
    case .literal(.null) where field.isOptionalInApp: inner.append(JSONValue.null.json)
    case .literal(let constant): inner.append(constant, as: field.type, path: path)
    case .value(let text):
      clocks.formUnion(text.clocks)
      inner.readsMe = text.readsMe
      let (type, isCertain) = text.inferred
      if let literal = text.literalText {
        inner.append(.string(literal), as: field.type, path: path)
      } else if field.type == .unknown || isCertain && type == field.type && type != .state {
        inner.pieces.append(.value(text))
      } else {
        inner.pieces.append(.typed(text, field.type, path: path))
      }
    default: inner.append(value, key: key, path: path)
    }
    isLocalized = isLocalized || inner.isLocalized
    readsMe = readsMe || inner.readsMe
    clocks.formUnion(inner.clocks)
    if field.isOptionalInApp, !inner.isConstant {
      pieces.append(.optional(inner.pieces))
    } else {
      for piece in inner.pieces { append(piece) }
    }
  }

  private mutating func append(_ constant: JSONValue, as type: FieldType, path: String) {
    if let fitting = type.converted(constant, states: states) {
      append(fitting.json)
    } else {
      pieces.append(.failure(.wrongType(path, constant, type)))
    }
  }

  private mutating func append(_ piece: Piece) {
    if case .bytes(let bytes) = piece { append(bytes) } else { pieces.append(piece) }
  }

  private var isConstant: Bool {
    pieces.allSatisfy { if case .bytes = $0 { true } else { false } }
  }

  private mutating func append(_ bytes: [UInt8]) {
    if case .bytes(let before) = pieces.last {
      pieces[pieces.count - 1] = .bytes(before + bytes)
    } else {
      pieces.append(.bytes(bytes))
    }
  }

  private static func append(_ value: JSONValue, to json: inout [UInt8]) {
    switch value {
    case .integer(let number): json += String(number).utf8
    case .bool(let flag): json += flag ? "true".utf8 : "false".utf8
    default: json += value.json
    }
  }
}

extension String {
  /// Whether it has nothing but whitespace.
  fileprivate var isBlank: Bool {
    // Nearly all texts begin with a visible ASCII character, whose properties need not be read.
    if let first = utf8.first, first > 32, first < 127 { return false }
    return allSatisfy(\.isWhitespace)
  }
}

extension TemplateContext {
  /// Returns the value of a text; a text of a single placeholder keeps the placeholder's type.
  func json(of template: TextTemplate) throws(RenderingError) -> JSONValue {
    if let placeholder = template.solePlaceholder { return try value(of: placeholder) }
    return .string(try text(of: template))
  }

  /// Returns a number of bytes that the value's JSON does not exceed, also after a conversion to a
  /// field's type; nil for lists, objects, and what filters change.
  fileprivate func sizeBound(of template: TextTemplate) -> Int? {
    var bound = 2
    for segment in template.segments {
      switch segment {
      case .literal(let literal): bound += Self.escaped(literal)
      case .placeholder(let placeholder):
        guard placeholder.filters.isEmpty, let value = try? raw(placeholder) else { return nil }
        switch value {
        case .string(let text): bound += Self.escaped(text) + Self.longestNumber
        case .integer, .number, .bool: bound += Self.longestNumber
        case .null, .array, .object: return nil
        }
      }
    }
    return bound
  }

  /// The most bytes of a number: a sign, 17 digits, a point and an exponent.
  private static let longestNumber = 32

  /// The most bytes of a text in JSON, where a control character becomes `\u001b`.
  private static func escaped(_ text: String) -> Int { 6 * text.utf8.count }
}
