// Decodes cards as an app does. KotlinDecodingTests compiles it together with generated source:
// `RideAttributes`, `OddAttributes` and `mutants`.
//
// usage: DecodeKt FILE-OF-MESSAGES FILE-OF-ODD-STATE; prints a line for each result.

package com.example.rides

import java.io.File
import org.json.JSONException
import org.json.JSONObject

fun <T> attempt(body: () -> T): String =
  try {
    body().toString()
  } catch (problem: JSONException) {
    "throws"
  }

/** What the generated types make of a value, and what org.json's own getter makes of it. */
fun row(json: String, type: String, generated: () -> Any?, own: () -> Any?) {
  println("| `$json` into `$type` | ${attempt(generated)} | ${attempt(own)} |")
}

fun value(json: String): JSONObject = JSONObject("{\"n\": $json}")

fun showConversions() {
  for (json in listOf("4.5", "20.0", "\"7\"", "true", "null")) {
    val n = value(json)
    row(json, "Long", { cardFieldLong(n) }, { n.getLong("n") })
  }
  for (json in listOf("2", "\"4.5\"")) {
    val n = value(json)
    row(json, "Double", { cardFieldDouble(n) }, { n.getDouble("n") })
  }
  for (json in listOf("7", "null")) {
    val n = value(json)
    row(json, "String", { cardFieldString(n) }, { n.getString("n") })
  }
  for (json in listOf("1", "\"true\"")) {
    val n = value(json)
    row(json, "Boolean", { cardFieldBoolean(n) }, { n.getBoolean("n") })
  }
  row("null", "Long?", { cardFieldMaybe(value("null")) }, { value("null").optLong("n") })
  val none = JSONObject()
  println("| a missing key, `Long` | ${attempt { cardFieldLong(none) }} | ${attempt { none.getLong("n") }} |")
  println("| a missing key, `Long?` | ${attempt { cardFieldMaybe(none) }} | ${attempt { none.optLong("n") }} |")
  val word = RideState.of("elsewhere")
  println("| an unknown word into `RideState` | `${if (word is RideState.Unknown) "Unknown" else "$word"}` | – |")
}

// The types of `Conversions.kt`, which the test generates.
fun cardFieldLong(json: JSONObject): Any? = WholeAttributes.of(json).n
fun cardFieldDouble(json: JSONObject): Any? = FractionAttributes.of(json).n
fun cardFieldString(json: JSONObject): Any? = TextAttributes.of(json).n
fun cardFieldBoolean(json: JSONObject): Any? = FlagAttributes.of(json).n
fun cardFieldMaybe(json: JSONObject): Any? = MaybeAttributes.of(json).n

fun RideAttributes.ContentState.json(): JSONObject =
  JSONObject().put("driverName", driverName).put("etaEpoch", etaEpoch ?: JSONObject.NULL)
    .put("plate", plate).put("status", status.word).put("vehicle", vehicle)

/** Decodes the `data` of messages, as FCM was sent them. */
fun decodePayloads(messages: List<JSONObject>) {
  var (attributes, contents, failed) = listOf(0, 0, 0)
  for (data in messages) {
    try {
      if (data.has("rp_attributes")) {
        RideAttributes.of(JSONObject(data.getString("rp_attributes")))
        attributes += 1
      }
      val state = RideAttributes.ContentState.of(JSONObject(data.getString("rp_state")))
      contents += 1
      println("state ${state.json()}")
    } catch (problem: JSONException) {
      failed += 1
      println("failed: ${problem.message} in $data")
    }
  }
  println("decoded ${messages.size} attributes $attributes contents $contents failed $failed")
  for ((name, decode) in mutants) {
    val survives = messages.take(2000).all { attempt { decode(JSONObject(it.getString("rp_state"))) } != "throws" }
    println("mutant $name: ${if (survives) "survives" else "fails"}")
  }
}

fun main(args: Array<String>) {
  showConversions()
  println("odd ${OddAttributes.ContentState.of(JSONObject(File(args[1]).readText()))}")
  for (json in listOf("{\"n\": {\"x\": 1}}", "{\"list\": [{\"word\": \"a\"}, {\"word\": 7}]}", "{}")) {
    try {
      PlaceAttributes.of(JSONObject(json))
    } catch (problem: JSONException) {
      println("problem ${problem.message}")
    }
  }
  println("sample date: ${RideAttributes.ContentState.sample.etaDate?.time}")
  println("samples of ${RideAttributes.ContentState.samples.map { it.status }}")
  println("states ${RideState.known}")
  println("words ${OddAttributes.ContentState.Phase.known}")
  println("samples ${OddAttributes.sample} ${OddAttributes.ContentState.sample.driverName}")
  decodePayloads(File(args[0]).readLines().map { JSONObject(it).getJSONObject("message").getJSONObject("data") })
}
