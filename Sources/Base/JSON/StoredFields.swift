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

  /// A field that is there if it has a value, and that a file for people writes in another form.
  mutating func field<Value: StoredValue>(
    _ key: String, _ value: inout Value?, as form: FileForm<Value>
  ) throws(StoredFault)

  /// A column of a row: a file for people may lack it, or have null.
  mutating func column<Value: StoredValue>(
    _ key: String, _ value: inout Value??, as form: FileForm<Value>
  ) throws(StoredFault)
}

extension StoredFields {
  package mutating func field<Value: StoredValue>(
    _ key: String, _ value: inout Value?, as form: FileForm<Value>
  ) throws(StoredFault) {
    try field(key, &value)
  }

  package mutating func column<Value: StoredValue>(
    _ key: String, _ value: inout Value??, as form: FileForm<Value>
  ) throws(StoredFault) {
    var plain = value ?? nil
    try field(key, &plain)
    value = .some(plain)
  }

  /// A field that is always there.
  ///
  /// - Parameter missing: What a file for people lacks without it.
  package mutating func field<Value: StoredValue>(
    _ key: String, _ value: inout Value, as form: FileForm<Value>, or missing: StoredFault
  ) throws(StoredFault) {
    var found: Value? = value
    try field(key, &found, as: form)
    guard let found else { throw missing.within(key) }
    value = found
  }

  /// A flag that is there if it is set.
  package mutating func flag(_ key: String, _ value: inout Bool) throws(StoredFault) {
    var isSet = value ? true : nil
    try field(key, &isSet, as: .flag)
    value = isSet ?? false
  }
}
