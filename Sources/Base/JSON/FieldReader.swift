/// Reads an object.
package struct FieldReader: StoredFields {
  private let members: [String: JSONValue]
  /// The lengths of their keys, as bits: most records have few of their fields, and a key of another
  /// length need not be hashed.
  private let lengths: UInt64
  /// Whether it is of a file for people: what is not there becomes nil, so that a record can tell what
  /// it needs, and each mistake states what is expected.
  private let isOfFile: Bool

  package init(_ stored: JSONValue) throws(StoredFault) {
    guard case .object(let members) = stored else { throw StoredFault(stored, isNot: "an object") }
    self.members = members
    lengths = Self.lengths(members)
    isOfFile = false
  }

  /// Reads an object of a file for people.
  ///
  /// - Parameter keys: Those that it may have.
  package init(ofFile stored: JSONValue, keys: [String]) throws(StoredFault) {
    guard case .object(let members) = stored else {
      throw StoredFault("not an object", expected: "an object such as {…}")
    }
    self.members = members
    lengths = Self.lengths(members)
    isOfFile = true
    if members.count <= keys.count, members.keys.allSatisfy(keys.contains) { return }
    guard let key = members.keys.filter({ !keys.contains($0) }).min() else { return }
    throw StoredFault(
      "the unknown key \(key.quotedBrief)" + suggestion(for: key, among: keys),
      expected: "one of " + keys.joined(separator: ", "))
  }

  private static func lengths(_ members: [String: JSONValue]) -> UInt64 {
    members.reduce(0) { $0 | bit($1.key) }
  }

  private static func bit(_ key: String) -> UInt64 { 1 << UInt64(key.utf8.count & 63) }

  package subscript(key: String) -> JSONValue? {
    lengths & Self.bit(key) == 0 ? nil : members[key]
  }

  package mutating func field<Value: StoredValue>(_ key: String, _ value: inout Value)
    throws(StoredFault)
  {
    if isOfFile {
      var text: Value?
      if self[key] != .string("") { try field(key, &text) }
      guard let text else { throw StoredFault("missing", expected: "a text").within(key) }
      return value = text
    }
    guard let stored = self[key] else { throw StoredFault("nothing is there").within(key) }
    value = try Self.read(stored, key)
  }

  package mutating func field<Value: StoredValue>(_ key: String, _ value: inout Value?)
    throws(StoredFault)
  {
    if isOfFile { return try field(key, &value, as: .text) }
    guard let stored = self[key], stored != .null else { return }
    value = try Self.read(stored, key) as Value
  }

  package mutating func parts<Values: StoredValue & Collection>(
    _ key: String, _ values: inout Values
  ) throws(StoredFault) {
    guard let stored = self[key], stored != .null else { return }
    values = try Self.read(stored, key)
  }

  package mutating func field<Value: StoredValue>(
    _ key: String, _ value: inout Value?, as form: FileForm<Value>
  ) throws(StoredFault) {
    if !isOfFile { return try field(key, &value) }
    value = nil
    guard let stored = self[key], stored != .null || form.refusesNull else { return }
    do throws(StoredFault) {
      value = try form.read(stored)
    } catch {
      throw error.within(key)
    }
  }

  package mutating func column<Value: StoredValue>(
    _ key: String, _ value: inout Value??, as form: FileForm<Value>
  ) throws(StoredFault) {
    if isOfFile, self[key] == nil { return }
    var plain: Value?
    try field(key, &plain, as: form)
    value = .some(plain)
  }

  private static func read<Value: StoredValue>(
    _ stored: JSONValue, _ key: String
  ) throws(StoredFault) -> Value {
    do throws(StoredFault) {
      return try Value(stored: stored)
    } catch {
      throw error.within(key)
    }
  }
}
