import Base
import CLibyaml
import RideCore

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

/// Owns one `yaml_parser_t` and the bytes that it parses.
@safe
struct YAMLParser: ~Copyable {
  private let source: SourceText
  private let parser: UnsafeMutablePointer<yaml_parser_t>
  private let input: UnsafeMutableBufferPointer<UInt8>

  /// - Throws: `YAMLFault` if libyaml cannot allocate memory.
  init(_ source: SourceText) throws(YAMLFault) {
    let parser = UnsafeMutablePointer<yaml_parser_t>.allocate(capacity: 1)
    unsafe parser.initialize(to: yaml_parser_t())
    guard unsafe yaml_parser_initialize(parser) == 1 else {
      unsafe parser.deallocate()
      throw YAMLFault(
        location: SourceLocation(line: 1, column: 1), found: "no memory to read the file",
        expected: "free memory")
    }
    unsafe self.parser = unsafe parser
    self.source = source
    unsafe input = .allocate(capacity: source.bytes.count)
    _ = unsafe input.initialize(from: source.bytes)
    unsafe yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
    unsafe yaml_parser_set_input_string(parser, input.baseAddress, input.count)
  }

  deinit {
    unsafe yaml_parser_delete(parser)
    unsafe parser.deallocate()
    unsafe input.deallocate()
  }

  /// Returns the next event; must not be called again after an error or the end of the stream.
  mutating func next() throws(YAMLFault) -> YAMLEvent {
    var event = unsafe yaml_event_t()
    guard unsafe yaml_parser_parse(parser, &event) == 1 else { throw syntaxError().fault }
    defer { unsafe yaml_event_delete(&event) }
    return unsafe Self.taken(event)
  }

  private static func taken(_ event: yaml_event_t) -> YAMLEvent {
    let location = unsafe SourceLocation(event.start_mark)
    let end = unsafe SourceLocation(event.end_mark)
    func taken(
      _ kind: YAMLEvent.Kind, anchor: UnsafeMutablePointer<UInt8>? = nil,
      tag: UnsafeMutablePointer<UInt8>? = nil
    ) -> YAMLEvent {
      YAMLEvent(
        kind: kind, location: location, end: end, anchor: unsafe anchor.map { unsafe string($0) },
        tag: unsafe tag.map { unsafe string($0) })
    }
    switch unsafe event.type {
    case YAML_SCALAR_EVENT:
      let scalar = unsafe event.data.scalar
      return unsafe taken(Self.scalar(scalar), anchor: scalar.anchor, tag: scalar.tag)
    case YAML_SEQUENCE_START_EVENT:
      let start = unsafe event.data.sequence_start
      return unsafe taken(.sequenceStart, anchor: start.anchor, tag: start.tag)
    case YAML_MAPPING_START_EVENT:
      let start = unsafe event.data.mapping_start
      let isFlow = unsafe start.style == YAML_FLOW_MAPPING_STYLE
      return unsafe taken(.mappingStart(isFlow: isFlow), anchor: start.anchor, tag: start.tag)
    case YAML_ALIAS_EVENT:
      return taken(.alias(unsafe string(event.data.alias.anchor)))
    case YAML_SEQUENCE_END_EVENT: return taken(.sequenceEnd)
    case YAML_MAPPING_END_EVENT: return taken(.mappingEnd)
    case YAML_STREAM_START_EVENT: return taken(.streamStart)
    case YAML_DOCUMENT_START_EVENT: return taken(.documentStart)
    case YAML_DOCUMENT_END_EVENT: return taken(.documentEnd)
    default: return taken(.streamEnd)
    }
  }

  private static func scalar(_ scalar: yaml_event_t.__Unnamed_union_data.__Unnamed_struct_scalar)
    -> YAMLEvent.Kind
  {
    let bytes = unsafe UnsafeBufferPointer(start: scalar.value, count: scalar.length)
    let style: YAMLEvent.ScalarStyle =
      switch unsafe scalar.style {
      case YAML_PLAIN_SCALAR_STYLE: .plain
      case YAML_SINGLE_QUOTED_SCALAR_STYLE, YAML_DOUBLE_QUOTED_SCALAR_STYLE: .quoted
      default: .block
      }
    return .scalar(unsafe String(decoding: bytes, as: UTF8.self), style)
  }

  private static func string(_ text: UnsafeMutablePointer<UInt8>) -> String {
    unsafe String(cString: text)
  }

  private func syntaxError() -> YAMLSyntaxError {
    let state = unsafe parser.pointee
    func text(_ words: UnsafePointer<CChar>?) -> String {
      unsafe words.map { unsafe String(cString: $0) } ?? ""
    }
    let isReader = unsafe state.error == YAML_READER_ERROR
    return unsafe YAMLSyntaxError(
      problem: text(state.problem), context: text(state.context),
      location: isReader
        ? source.location(ofByte: state.problem_offset) : SourceLocation(state.problem_mark),
      start: state.context == nil ? nil : SourceLocation(state.context_mark), source: source)
  }
}

extension SourceLocation {
  fileprivate init(_ mark: yaml_mark_t) {
    self.init(line: mark.line + 1, column: mark.column + 1)
  }
}
