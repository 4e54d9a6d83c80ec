import RideCore

/// The form of a key's value, and how it is read; what can't be read is reported.
struct ValueType<Value> {
  let form: ValueForm
  let read: (Field) -> Value?

  init(_ form: ValueForm, _ read: @escaping (Field) -> Value?) {
    self.form = form
    self.read = read
  }

  init(_ form: ValueForm, _ read: @escaping (NodeDecoder) -> (Field) -> Value?) {
    self.init(form) { read(NodeDecoder(diagnostics: $0.diagnostics))($0) }
  }

  func map<Other>(_ other: @escaping (Value) -> Other) -> ValueType<Other> {
    ValueType<Other>(form) { read($0).map(other) }
  }
}

extension ValueType where Value == Bool {
  static var flag: Self { Self(.flag, NodeDecoder.flag) }
}

extension ValueType where Value == Int {
  static func integer(_ range: ClosedRange<Int64>) -> Self {
    Self(.integer(range), NodeDecoder.integer)
  }
}

extension ValueType where Value == Duration {
  static func duration(such example: String) -> Self {
    Self(.duration(such: example), NodeDecoder.duration)
  }
}

extension ValueType where Value == LocatedWord {
  static func word(_ form: WordForm) -> Self { Self(.word(form), NodeDecoder.word) }
}

extension ValueType where Value == [LocatedWord] {
  static func oneOrMore(_ form: WordForm, such example: String) -> Self {
    Self(.oneOrMore(form, such: example), NodeDecoder.oneOrMore)
  }
}

extension ValueType where Value == PushPriority {
  static var priority: Self { Self(.priority, NodeDecoder.priority) }
}

extension ValueType where Value == RuleExpiry {
  static var expiry: Self { Self(.expiry, NodeDecoder.expiry) }
}

extension ValueType where Value: RawRepresentable<String> & CaseIterable {
  static var choice: Self {
    Self(.choice(Value.allCases.map(\.rawValue))) {
      NodeDecoder(diagnostics: $0.diagnostics).choice($0, of: Value.self)
    }
  }
}

extension ValueType where Value == Field {
  /// A value that its decoder reads later.
  static func later(_ form: ValueForm) -> Self { Self(form) { $0 } }
}

extension ValueType where Value == Fields {
  static func mapping(_ form: MappingForm) -> Self {
    Self(.mapping(form)) { Fields($0.node, as: form, diagnostics: $0.diagnostics) }
  }
}

extension ValueType where Value == [Fields] {
  /// A list of mappings; wrong ones are reported and left out.
  static func mappings(_ form: MappingForm) -> Self {
    Self(.mappings(form)) { field in
      guard case .sequence(let nodes) = field.node.kind else {
        return field.refused("a list of mappings")
      }
      return nodes.compactMap { Fields($0, as: form, diagnostics: field.diagnostics) }
    }
  }
}
