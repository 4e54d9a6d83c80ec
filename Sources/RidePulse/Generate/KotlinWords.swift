/// A sealed class of the generated source whose values are words: it has any text, because a newer
/// rule may send a word that this version of the app does not have.
struct KotlinWords {
  private let name: String
  private let summary: String
  /// `internal ` before a class of the file that is not public.
  private let modifier: String
  private let cases: [(word: String, name: String)]

  init(name: String, summary: String, words: [String], modifier: String = "") {
    (self.name, self.summary, self.modifier) = (name, summary, modifier)
    cases = Self.cases(words)
  }

  /// Returns each word with the name of its object.
  static func cases(_ words: [String]) -> [(word: String, name: String)] {
    var names = NameScope(reserved: KotlinName.types, ignoresCase: true)
    return words.map { ($0, KotlinName.code(names.type($0, suffix: "Word"))) }
  }

  /// The first value, for sample values.
  var firstCase: String { cases.first?.name ?? "Unknown(\"\")" }

  /// The source of the class, not indented.
  var lines: [String] {
    [
      "/** \(summary) One that this version of the app does not have is `Unknown`. */",
      "\(modifier)sealed class \(name)(open val word: String) {",
    ] + cases.map { "  object \($0.name) : \(name)(\(KotlinName.literal($0.word)))" } + [
      "  data class Unknown(override val word: String) : \(name)(word)", "",
      "  final override fun toString(): String = word", "",
      "  companion object {",
    ] + known + [
      "    fun of(word: String): \(name) =", "      when (word) {",
    ] + cases.map { "        \(KotlinName.literal($0.word)) -> \($0.name)" } + [
      "        else -> Unknown(word)", "      }", "  }", "}",
    ]
  }

  private var known: [String] {
    let head = [
      "    /** The words that this version of the app has. */",
      "    val known: List<\(name)>", "      get() = listOf(",
    ]
    let last = cases.count - 1
    let objects = cases.enumerated().map {
      "        \($0.element.name)\($0.offset == last ? "" : ",")"
    }
    return head + objects + ["      )", ""]
  }
}
