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
  /// The keys and indices that lead to the value, from the outermost.
  package private(set) var path: [String] = []
  package let found: String
  /// What belongs there; nil if `found` states it.
  package let expected: String?

  package init(_ found: String, expected: String? = nil) {
    self.found = found
    self.expected = expected
  }

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

extension StoredObject {
  package init(stored: JSONValue) throws(StoredFault) {
    var fields = try FieldReader(stored)
    self = try Self.blank.visited(by: &fields)
  }

  /// Returns the record after a visit.
  package func visited(by fields: inout some StoredFields) throws(StoredFault) -> Self {
    var record = self
    try record.visit(&fields)
    return record
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
    // A memo has some hundred bytes.
    json.reserveCapacity(512)
    store(in: &json)
    return String(decoding: json, as: UTF8.self)
  }
}
