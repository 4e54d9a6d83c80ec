/// One step of libyaml through a document, taken over into values of ours.
struct YAMLEvent {
  let kind: Kind
  let location: SourceLocation
  let end: SourceLocation
  /// The `&name` before it.
  var anchor: String?
  /// The `!tag` before it.
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
