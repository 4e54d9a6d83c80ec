import RideCore

/// The functions of a generated Kotlin file that read values of exactly one type: org.json itself
/// converts `"7"` to 7 and 4.5 to 4.
enum KotlinReader: CaseIterable {
  case required, optional, string, word, boolean, long, double, list, object, map, any, wrong

  /// The functions that a type of field needs.
  static func all(_ type: FieldType) -> Set<KotlinReader> {
    switch type {
    case .string: [.string, .wrong]
    case .state, .words: [.word, .string, .wrong]
    case .bool: [.boolean, .wrong]
    case .int, .dateEpoch: [.long, .wrong]
    case .double: [.double, .wrong]
    case .unknown: [.any, .map, .wrong]
    case .list(nil): [.list, .any, .map, .wrong]
    case .object(nil): [.map, .any, .wrong]
    case .list(let element?): Set([.list, .wrong]).union(all(element))
    case .object(let members?): Set([.object, .wrong]).union(all(Array(members.values)))
    }
  }

  static func all(_ fields: [CardField]) -> Set<KotlinReader> {
    fields.reduce(into: []) { readers, field in
      readers.formUnion(all(field.type))
      readers.insert(field.isOptionalInApp ? .optional : .required)
    }
  }

  /// The classes of org.json that the function names.
  var imports: Set<String> {
    switch self {
    case .required, .wrong: ["JSONException", "JSONObject"]
    case .optional, .object, .map: ["JSONObject"]
    case .any: ["JSONArray", "JSONObject"]
    case .list: ["JSONArray"]
    default: []
    }
  }

  var lines: [String] {
    source.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
  }

  private var source: String {
    switch self {
    case .required:
      """
      private fun <T> cardField(json: JSONObject, key: String, at: String, read: (Any, String) -> T): T =
        read(json.opt(key) ?: throw JSONException("$at$key is missing"), at + key)
      """
    case .optional:
      """
      private fun <T> cardOptional(json: JSONObject, key: String, at: String, read: (Any, String) -> T): T? =
        if (json.isNull(key)) null else read(json.get(key), at + key)
      """
    case .string:
      """
      private fun cardString(value: Any, at: String): String =
        value as? String ?: throw cardWrong(value, at, "a text")
      """
    case .word:
      """
      private fun <T> cardWord(of: (String) -> T): (Any, String) -> T =
        { value, at -> of(cardString(value, at)) }
      """
    case .boolean:
      """
      private fun cardBoolean(value: Any, at: String): Boolean =
        value as? Boolean ?: throw cardWrong(value, at, "true or false")
      """
    case .long:
      """
      private fun cardLong(value: Any, at: String): Long {
        if (value is Int || value is Long) return (value as Number).toLong()
        val number = (value as? Number)?.toDouble() ?: Double.NaN
        if (number != Math.rint(number) || Math.abs(number) >= 9.2e18) throw cardWrong(value, at, "a whole number")
        return number.toLong()
      }
      """
    case .double:
      """
      private fun cardDouble(value: Any, at: String): Double =
        (value as? Number)?.toDouble() ?: throw cardWrong(value, at, "a number")
      """
    case .list:
      """
      private fun <T> cardList(read: (Any, String) -> T): (Any, String) -> List<T> = { value, at ->
        val list = value as? JSONArray ?: throw cardWrong(value, at, "a list")
        (0 until list.length()).map { read(list.get(it), "$at[$it]") }
      }
      """
    case .object:
      """
      private fun <T> cardObject(of: (JSONObject, String) -> T): (Any, String) -> T =
        { value, at -> of(value as? JSONObject ?: throw cardWrong(value, at, "an object"), "$at.") }
      """
    case .map:
      """
      private fun cardMap(value: Any, at: String): Map<String, Any?> {
        val json = value as? JSONObject ?: throw cardWrong(value, at, "an object")
        return json.keys().asSequence().map { it.toString() }.associateWith { cardAny(json.get(it), "$at.$it") }
      }
      """
    case .any:
      """
      private fun cardAny(value: Any, at: String): Any? =
        when (value) {
          JSONObject.NULL -> null
          is JSONObject -> cardMap(value, at)
          is JSONArray -> (0 until value.length()).map { cardAny(value.get(it), "$at[$it]") }
          else -> value
        }
      """
    case .wrong:
      """
      private fun cardWrong(value: Any, at: String, expected: String): JSONException {
        val type = if (value == JSONObject.NULL) "null" else value.javaClass.simpleName
        return JSONException("$at is $type, expected $expected")
      }
      """
    }
  }
}
