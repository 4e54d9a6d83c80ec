/// The form of a value in a file for people, and what its mistakes are called.
package struct FileForm<Value: StoredValue> {
  package let read: (JSONValue) throws(StoredFault) -> Value
  /// Nil for a value that is written as in memos.
  package let write: ((Value) -> JSONValue)?
  /// Whether null is no absence, but a mistake.
  package private(set) var refusesNull = false

  private init(
    _ read: @escaping (JSONValue) throws(StoredFault) -> Value,
    write: ((Value) -> JSONValue)? = nil
  ) {
    self.read = read
    self.write = write
  }

  /// A text, or an ID.
  package static var text: FileForm { plain("a text", expected: "a text or null") }

  /// A text in place of which null is a mistake.
  fileprivate static var requiredText: FileForm { plain("a text", expected: "a text") }

  /// A value whose mistakes are all called the same.
  package static func other(
    _ fault: StoredFault, where isValid: @escaping (Value) -> Bool = { _ in true }
  ) -> FileForm {
    FileForm { (stored) throws(StoredFault) in
      if let value = try? Value(stored: stored), isValid(value) { return value }
      throw fault
    }
  }

  private static func plain(_ what: String, expected: String) -> FileForm {
    FileForm { (stored) throws(StoredFault) in
      do throws(StoredFault) {
        return try Value(stored: stored)
      } catch {
        throw StoredFault("\(stored.shown) is not \(what)", expected: expected)
      }
    }
  }
}

extension FileForm<Bool> {
  package static var flag: FileForm { plain("a flag", expected: "true or false") }
}

extension FileForm<Double> {
  package static var number: FileForm { plain("a number", expected: "a number") }
}

extension FileForm<[String: JSONValue]> {
  package static var object: FileForm {
    FileForm { (stored) throws(StoredFault) in
      if case .object(let members) = stored { return members }
      throw StoredFault("\(stored.shown) is not an object", expected: "an object")
    } write: {
      .object($0)
    }
  }
}

extension FileForm<Timestamp> {
  /// ISO 8601.
  package static var time: FileForm { time(of: .text) }

  /// ISO 8601, in a text of this form.
  fileprivate static func time(of form: FileForm<String>) -> FileForm {
    FileForm { (stored) throws(StoredFault) in
      let text = try form.read(stored)
      if let time = CivilTime.instant(iso: text) { return time }
      throw StoredFault(
        "\(text.quotedBrief) is not a time", expected: "one such as 2026-11-21T08:00:00Z")
    } write: {
      .string(CivilTime.exact($0))
    }
  }
}

extension FileForm<[String: Timestamp]> {
  /// An object of times.
  package static var times: FileForm {
    FileForm { (stored) throws(StoredFault) in
      var times: [String: Timestamp] = [:]
      for (key, value) in try FileForm<[String: JSONValue]>.object.read(stored) {
        do throws(StoredFault) {
          times[key] = try FileForm<Timestamp>.time(of: .requiredText).read(value)
        } catch {
          throw error.within(key)
        }
      }
      return times
    } write: {
      .object($0.mapValues { .string(CivilTime.exact($0)) })
    }
  }
}

extension FileForm where Value: StoredAsRaw & CaseIterable, Value.RawValue == String {
  /// One of the words of a type.
  package static var word: FileForm {
    FileForm { (stored) throws(StoredFault) in
      let text = try FileForm<String>.text.read(stored)
      if let word = Value(rawValue: text) { return word }
      let known = Value.allCases.map(\.rawValue)
      throw StoredFault(
        "\(text.quotedBrief) is not known" + suggestion(for: text, among: known),
        expected: "one of " + known.joined(separator: ", "))
    }
  }
}

extension FileForm {
  /// A list of objects.
  package static func objects<Element: StoredObject>() -> FileForm where Value == [Element] {
    var form = FileForm { (stored) throws(StoredFault) in
      let keys = FieldKeys.of(Element.blank)
      guard case .array(let elements) = stored else {
        throw StoredFault("not a list", expected: "a list of " + keys.joined(separator: " and "))
      }
      var records: [Element] = []
      for (index, element) in elements.enumerated() {
        do throws(StoredFault) {
          var fields = try FieldReader(ofFile: element, keys: keys)
          records.append(try Element.blank.visited(by: &fields))
        } catch {
          throw error.within("[\(index)]")
        }
      }
      return records
    }
    form.refusesNull = true
    return form
  }
}

extension JSONValue {
  /// The value as an error shows it.
  fileprivate var shown: String {
    switch self {
    case .object: "an object"
    case .array: "a list"
    case .string(let text): text.quotedBrief
    default: String(decoding: json, as: UTF8.self)
    }
  }
}
