package com.example.rides

import org.json.JSONObject

/** What `ridepulse serve` keeps of Android phones: the rules of sql/0011_registration.sql and sql/0013_sign_out.sql. */
class ModelServer {
  private class Row(val owner: String, val installation: String, var isEnabled: Boolean)

  private val phones = HashMap<String, Row>()
  private val notes = HashSet<String>()
  private val done = HashMap<String, String>()
  /** The person for whom the backend registers nothing. */
  var refused: String? = null
    set(value) {
      field = value
      if (value != null) wasNeverRefused = false
    }
  var wasNeverRefused = true
    private set
  val faults = ArrayList<String>()

  /** Takes a call, once for each Idempotency-Key, and returns the status. */
  fun receive(call: RideCall): Int {
    val request = "${call.method} ${call.path} ${call.body}"
    if (done.getOrPut(call.key) { request } != request) faults.add("one key has two requests: $request")
    if (call.method == "POST" && call.owner == refused) return 403
    if (notes.add("key ${call.key}")) take(call)
    return 200
  }

  private fun take(call: RideCall) {
    val parts = call.path.substringBefore("?").split("/").drop(2)
    val body = JSONObject(call.body ?: "{}")
    when ("${call.method} ${parts[0]}") {
      "POST devices" ->
        register(body.getString("token"), body.getString("owner_id"), body.getString("installation_id"))
      "DELETE devices" -> signOut(parts[2])
      "DELETE live-activities" -> notes.add("${parts[2]} of ${call.path.substringAfter("owner_id=")}")
      "POST seen" -> notes.add("${body.getString("apns_id")} of ${call.owner}")
    }
  }

  private fun register(token: String, owner: String, installation: String) {
    for ((other, row) in phones)
      if (other != token && row.installation == installation) row.isEnabled = false
    phones[token] = Row(owner, installation, true)
  }

  private fun signOut(token: String) {
    val phone = phones[token]?.takeIf { it.isEnabled } ?: return
    for (row in phones.values)
      if (row.owner == phone.owner && row.installation == phone.installation) row.isEnabled = false
  }

  /** Returns the phones that are enabled, in lines. */
  val enabled: Set<String>
    get() = phones.filter { it.value.isEnabled }.map { "${it.key} of ${it.value.owner}" }.toSet()

  /** Whether a receipt, or the end of a card, of a person arrived. */
  fun has(id: String, owner: String): Boolean = "$id of $owner" in notes
}
