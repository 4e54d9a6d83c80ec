/// One libyaml event, converted to Swift values.
struct YAMLEvent {
  let kind: Kind
  let location: SourceLocation
  let end: SourceLocation
  /// The name of the anchor (`&name`) before it.
  var anchor: String?
  /// The tag (`!tag`) before it.
  var tag: String?

  enum Kind: Equatable {
    case streamStart, streamEnd, documentStart, documentEnd
    case sequenceStart, sequenceEnd, mappingEnd
    case mappingStart(isFlow: Bool)
    case alias(String)
    case scalar(String, ScalarStyle)
  }

  enum ScalarStyle {
    case plain, quoted, block
  }
}
