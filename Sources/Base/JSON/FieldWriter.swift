/// Writes an object.
package struct FieldWriter: StoredFields {
  private var json: [UInt8] = []
  private let isOfFile: Bool

  /// Appends an object with the fields that the function writes.
  ///
  /// - Parameter isOfFile: Whether it is of a file for people.
  package static func object(
    in json: inout [UInt8], isOfFile: Bool = false, _ write: (inout FieldWriter) -> Void
  ) {
    var fields = FieldWriter(isOfFile: isOfFile)
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

  package mutating func field<Value: StoredValue>(
    _ key: String, _ value: inout Value?, as form: FileForm<Value>
  ) {
    guard isOfFile, let write = form.write else { return field(key, &value) }
    var json = value.map(write)
    field(key, &json)
  }

  package mutating func column<Value: StoredValue>(
    _ key: String, _ value: inout Value??, as form: FileForm<Value>
  ) {
    guard var plain = value else { return }
    var null = JSONValue.null
    if isOfFile, plain == nil { field(key, &null) } else { field(key, &plain, as: form) }
  }
}
