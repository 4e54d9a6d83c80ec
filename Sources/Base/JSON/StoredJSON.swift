/// A value that the database stores as JSON: a memo, or a part of one.
///
/// `Codable` would need no code of its own here, but reading and writing a memo through Foundation
/// took a third of the time that the service spent on an event.
package protocol StoredValue {
  init(stored: JSONValue) throws(StoredFault)

  /// Appends its JSON text.
  func store(in json: inout [UInt8])
}

/// A value that is stored as an object; one function names its fields, for reading and for writing.
package protocol StoredObject: StoredValue {
  /// A value whose fields are then read.
  static var blank: Self { get }

  /// Visits each field with its key.
  mutating func visit(_ fields: inout some StoredFields) throws(StoredFault)
}

/// Why stored JSON cannot be read.
package struct StoredFault: Error, Hashable, CustomStringConvertible {
  /// The keys and places that lead to the value, from the outermost.
  package private(set) var path: [String] = []
  package let found: String

  package init(_ found: String) { self.found = found }

  /// - Parameter what: what the value should be, such as `a UUID`.
  package init(_ value: JSONValue, isNot what: String) {
    self.init("\(String(decoding: value.json, as: UTF8.self).brief(bytes: 60)) is not \(what)")
  }

  package var description: String {
    path.isEmpty ? found : "\(path.joined(separator: ".")): \(found)"
  }

  package func within(_ key: String) -> StoredFault {
    var fault = self
    fault.path.insert(key, at: 0)
    return fault
  }
}

/// Reads or writes the fields of an object.
package protocol StoredFields {
  /// A field that is always there.
  mutating func field<Value: StoredValue>(_ key: String, _ value: inout Value) throws(StoredFault)

  /// A field that is there if it has a value.
  mutating func field<Value: StoredValue>(_ key: String, _ value: inout Value?) throws(StoredFault)

  /// A list or dictionary that is there if it is not empty.
  mutating func parts<Values: StoredValue & Collection>(
    _ key: String, _ values: inout Values
  ) throws(StoredFault)
}

extension StoredObject {
  package init(stored: JSONValue) throws(StoredFault) {
    var fields = try FieldReader(stored)
    self = .blank
    try visit(&fields)
  }

  package func store(in json: inout [UInt8]) {
    var value = self
    // Only reading fails.
    FieldWriter.object(in: &json) { fields in try? value.visit(&fields) }
  }
}

extension StoredValue {
  /// Reads the JSON text of a value.
  package init(storedText text: String) throws(StoredFault) {
    let value: JSONValue
    do throws(JSONParser.Fault) {
      value = try JSONParser.parse(Array(text.utf8))
    } catch {
      throw StoredFault("\(error.what) at byte \(error.offset)")
    }
    try self.init(stored: value)
  }

  /// Its JSON text.
  package var storedText: String {
    var json: [UInt8] = []
    store(in: &json)
    return String(decoding: json, as: UTF8.self)
  }
}

/// Reads an object.
package struct FieldReader: StoredFields {
  private let members: [String: JSONValue]

  package init(_ stored: JSONValue) throws(StoredFault) {
    guard case .object(let members) = stored else { throw StoredFault(stored, isNot: "an object") }
    self.members = members
  }

  package mutating func field<Value: StoredValue>(_ key: String, _ value: inout Value)
    throws(StoredFault)
  {
    guard let stored = members[key] else { throw StoredFault("nothing is there").within(key) }
    value = try Self.read(stored, key)
  }

  package mutating func field<Value: StoredValue>(_ key: String, _ value: inout Value?)
    throws(StoredFault)
  {
    guard let stored = members[key], stored != .null else { return }
    value = try Self.read(stored, key) as Value
  }

  package mutating func parts<Values: StoredValue & Collection>(
    _ key: String, _ values: inout Values
  ) throws(StoredFault) {
    guard let stored = members[key], stored != .null else { return }
    values = try Self.read(stored, key)
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

/// Writes an object.
package struct FieldWriter: StoredFields {
  private var json: [UInt8] = []

  /// Appends an object with the fields that the function writes.
  package static func object(in json: inout [UInt8], _ write: (inout FieldWriter) -> Void) {
    var fields = FieldWriter()
    // Swapping avoids a copy: only `fields` owns the bytes while it writes.
    swap(&fields.json, &json)
    fields.json.append(UInt8(ascii: "{"))
    write(&fields)
    fields.json.append(UInt8(ascii: "}"))
    swap(&fields.json, &json)
  }

  package mutating func field<Value: StoredValue>(_ key: String, _ value: inout Value) {
    if json.last != UInt8(ascii: "{") { json.append(UInt8(ascii: ",")) }
    json.append(json: key)
    json.append(UInt8(ascii: ":"))
    value.store(in: &json)
  }

  package mutating func field<Value: StoredValue>(_ key: String, _ value: inout Value?) {
    if var value { field(key, &value) }
  }

  package mutating func parts<Values: StoredValue & Collection>(
    _ key: String, _ values: inout Values
  ) {
    if !values.isEmpty { field(key, &values) }
  }
}
