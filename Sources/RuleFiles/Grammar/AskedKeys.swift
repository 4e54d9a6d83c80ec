/// Collects the keys that a decoder asks for, in the order in which messages and docs list them.
final class AskedKeys {
  private(set) var keys: [Key] = []

  func add(_ key: Key) {
    if !keys.contains(where: { $0.name == key.name }) { keys.append(key) }
  }
}

extension MappingForm {
  /// Creates the form of a mapping from its decoder, which names each key once.
  ///
  /// - Parameter decode: asks for every key, whatever the mapping has: without a mapping, each is nil.
  init<Value>(_ subject: String, keysOf decode: (Fields) -> Value) {
    let asked = AskedKeys()
    _ = decode(Fields(MappingForm(subject: subject, keys: []), asked: asked))
    self.init(subject: subject, keys: asked.keys)
  }
}
