package import Base
internal import CEL

/// `attributes`: the attributes that rides have, as the rule files declare them.
package struct DeclaredAttributes: Hashable, Sendable {
  package let types: [String: AttributeType]

  package init(_ types: [String: AttributeType]) { self.types = types }

  /// Why a path leads to no declared attribute, or to one of another type.
  package struct Problem: Error, Hashable, Sendable {
    package var found: String
    package var expected: String
    /// The path that was probably meant.
    package var nearest: String?
  }

  /// Returns the type of the attribute that a path of keys leads to.
  ///
  /// - Parameter prefix: what stands before the keys, such as `ride.attributes`; empty for none.
  package func type(
    at keys: [String], of prefix: String
  ) throws(Problem) -> AttributeType {
    var type = AttributeType.object(types)
    for (index, key) in keys.enumerated() {
      let parent = Array(keys.prefix(index))
      guard case .object(let members) = type else {
        throw Problem(
          found: Self.path(keys, of: prefix),
          expected: "\(Self.path(parent, of: prefix)) alone: it is declared as \(type.word), "
            + "which has no members")
      }
      guard let member = members[key] else {
        let known = members.keys.sorted()
        throw Problem(
          found: Self.path(keys, of: prefix),
          expected: "a declared attribute: "
            + known.map { Self.path(parent + [$0], of: "") }.joined(separator: ", "),
          nearest: nearestWord(to: key, among: known).map { Self.path(parent + [$0], of: prefix) })
      }
      type = member
    }
    return type
  }

  private static func path(_ keys: [String], of prefix: String) -> String {
    ((prefix.isEmpty ? [] : [prefix]) + keys).joined(separator: ".")
  }

  /// All words that are declared.
  package var words: Set<String> { AttributeType.object(types).words }

  /// Returns where attributes are not of their declared types, once for each attribute, by name.
  package func mismatches(in attributes: JSONValue) -> [(path: [String], type: AttributeType)] {
    types.sorted { $0.key < $1.key }.compactMap { key, type in
      attributes[key].flatMap { type.mismatch(of: $0, at: [key]) }
    }
  }
}

// The types that conditions see.
extension DeclaredAttributes {
  var celType: CELType { .object(types.mapValues(\.celType)) }

  /// Returns the type of what is remembered of these paths.
  ///
  /// - Parameter columns: those of the paths that are columns of the ride.
  func celType(of paths: [[String]], columns: [[String]]) -> CELType {
    let names = Set(columns.joined())
    var known = types.filter { !names.contains($0.key) }
    // `attributes.pickup_at` is written so, and read so.
    known["attributes"] = .object(types)
    return Self.remembered(paths.map { $0[...] }, of: known)
  }

  private static func remembered(
    _ paths: [ArraySlice<String>], of types: [String: AttributeType]
  ) -> CELType {
    let byKey = Dictionary(grouping: paths.filter { !$0.isEmpty }) { $0[$0.startIndex] }
    var members: [String: CELType] = [:]
    for (key, paths) in byKey {
      let below = paths.map { $0.dropFirst() }
      switch types[key] {
      case .object(let inner) where !below.contains(where: \.isEmpty):
        members[key] = .nullable(remembered(below, of: inner))
      case let type: members[key] = type?.celType ?? .dyn
      }
    }
    return .object(members)
  }
}

extension AttributeType {
  fileprivate var words: Set<String> {
    switch self {
    case .words(let words): Set(words)
    case .object(let types): types.values.reduce(into: []) { $0.formUnion($1.words) }
    case .list(let type): type.words
    case .time, .number, .text, .flag: []
    }
  }

  /// The type of its values, each of which may be null; a time is a number or a text.
  fileprivate var celType: CELType {
    switch self {
    case .time: .dyn
    case .number: .nullable(.number)
    case .text: .nullable(.string)
    case .flag: .nullable(.bool)
    case .words(let words): .nullable(.words(words))
    case .object(let types): .nullable(.object(types.mapValues(\.celType)))
    case .list(let type): .nullable(.list(type.celType))
    }
  }
}
