/// What a reader of JSON forgives and a strict door does not: names that stand twice in the outer
/// object, and nesting without end. It is asked of texts that are JSON.
struct JSONOutline {
  /// How many objects and arrays stand within each other at most.
  private(set) var depth = 0
  /// The outer object's names, as they are written, in order.
  private(set) var names: [String] = []

  init(_ text: [UInt8]) {
    var open = 0
    var string: [UInt8] = []
    var isInString = false
    var isEscaped = false
    for byte in text {
      if isInString {
        if isEscaped {
          isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
          isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
          isInString = false
          continue
        }
        if open == 1 { string.append(byte) }
        continue
      }
      switch byte {
      case UInt8(ascii: "\""):
        isInString = true
        string = []
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        open += 1
        depth = max(depth, open)
      case UInt8(ascii: "}"), UInt8(ascii: "]"): open -= 1
      case UInt8(ascii: ":") where open == 1:
        names.append(String(decoding: string, as: UTF8.self))
      default: break
      }
    }
  }

  /// The first name that stands there twice.
  var repeated: String? {
    var seen: Set<String> = []
    return names.first { !seen.insert($0).inserted }
  }
}
