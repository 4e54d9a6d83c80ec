/// Collects the keys of an object, in the order in which they are written.
package struct FieldKeys: StoredFields {
  package private(set) var keys: [String] = []

  package init() {}

  package static func of(_ record: some StoredObject) -> [String] {
    var (record, fields) = (record, FieldKeys())
    try? record.visit(&fields)
    return fields.keys
  }

  package mutating func field<Value: StoredValue>(_ key: String, _ value: inout Value) {
    keys.append(key)
  }

  package mutating func field<Value: StoredValue>(_ key: String, _ value: inout Value?) {
    keys.append(key)
  }

  package mutating func parts<Values: StoredValue & Collection>(
    _ key: String, _ values: inout Values
  ) {
    keys.append(key)
  }
}
