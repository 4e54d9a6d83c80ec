package com.example.rides

import java.net.HttpURLConnection
import java.net.URL
import java.net.URLEncoder
import org.json.JSONArray
import org.json.JSONObject

/** What an app may log: no call is lost without one. Names have no tokens. */
data class RideEvent(val kind: Kind, val what: String, val reason: String) {
  enum class Kind { DROPPED, REFUSED, REPEATED, BROKEN_FILE, NOT_SAVED, NO_TOKEN, THREW }
}

/**
 * What an app reports to its backend. Lower ranks are sent first: without a token nothing arrives. After its
 * lifetime, in seconds, a report is not worth sending.
 */
enum class RideReport(val rank: Int, val lifetime: Long?) {
  SIGN_OUT(0, 30 * 86_400L), PHONE(1, null), END_CARD(2, 30 * 86_400L), SEEN(3, 86_400), CONTACT(4, 600)
}

/** A call of the backend that waits or is on its way. */
data class RideCall(
  /** The Idempotency-Key: equal in each attempt, so that one that was repeated is done once. */
  val key: String,
  val session: Int,
  val owner: String,
  val report: RideReport,
  /** A token, a card or a push; empty for a contact. */
  val id: String,
  val path: String,
  /** JSON; null for a `DELETE`. */
  val body: String?,
  /** Milliseconds since 1970. */
  val madeAt: Long,
  /** The `Authorization` with which a sign-out is sent after its session ended; null for other calls. */
  val farewell: String? = null,
  val attempts: Int = 0,
  /** Attempts that were answered, and failed. */
  val answers: Int = 0,
  val notBefore: Long? = null,
  /** Whether the backend named the time to wait, which no return to the foreground shortens. */
  val isToldToWait: Boolean = false
) {
  val method: String get() = if (body == null) "DELETE" else "POST"
  val isSignOut: Boolean get() = report == RideReport.SIGN_OUT
  /** Calls of one slot arrive in order, and a newer one replaces one that waits. */
  val slot: String get() = if (report == RideReport.PHONE || isSignOut) "phone" else "$report $id"
  /** A name for logs, which must have no tokens. */
  val name: String
    get() = when (report) {
      RideReport.SIGN_OUT -> "sign-out"
      RideReport.PHONE -> "phone"
      RideReport.END_CARD -> "end of card $id"
      RideReport.SEEN -> "seen $id"
      RideReport.CONTACT -> "contact"
    }

  fun isExpired(now: Long): Boolean = report.lifetime?.let { now - madeAt > it * 1000 } ?: false

  /** Returns when the call is due. A clock that was set back delays no call for longer than its pause. */
  fun due(now: Long): Long = notBefore?.takeIf { it > now && it - now <= RidePause.LONGEST } ?: now

  fun json(): JSONObject = JSONObject().put("key", key).put("session", session).put("owner", owner)
    .put("report", report.name).put("id", id).put("path", path).putOpt("body", body).put("madeAt", madeAt)
    .putOpt("farewell", farewell).put("attempts", attempts).put("answers", answers)
    .putOpt("notBefore", notBefore).put("isToldToWait", isToldToWait)

  /** Sends the call, and waits for the answer. Throws an IOException without one. */
  fun request(backend: String, header: String): RideResult {
    val connection = URL(backend + path).openConnection() as HttpURLConnection
    connection.requestMethod = method
    connection.connectTimeout = 5000
    connection.readTimeout = 10000
    // A POST that is redirected would arrive as a GET.
    connection.instanceFollowRedirects = false
    connection.setRequestProperty("Authorization", header)
    connection.setRequestProperty("Idempotency-Key", key)
    body?.let {
      connection.doOutput = true
      connection.setRequestProperty("Content-Type", "application/json")
      connection.outputStream.use { stream -> stream.write(it.toByteArray()) }
    }
    val status = connection.responseCode
    val after = connection.getHeaderField("Retry-After")?.trim()?.toLongOrNull()
    connection.disconnect()
    return RideResult.of(status, after, this)
  }

  companion object {
    /** Throws a JSONException or an IllegalArgumentException for what this version can't read. */
    fun of(json: JSONObject) = RideCall(
      key = json.getString("key"), session = json.getInt("session"), owner = json.getString("owner"),
      report = RideReport.valueOf(json.getString("report")), id = json.getString("id"),
      path = json.getString("path"), body = json.textOrNull("body"), madeAt = json.getLong("madeAt"),
      farewell = json.textOrNull("farewell"), attempts = json.getInt("attempts"),
      answers = json.getInt("answers"),
      notBefore = if (json.has("notBefore")) json.getLong("notBefore") else null,
      isToldToWait = json.getBoolean("isToldToWait"))

    /** Returns the path of a report, as docs/api.md has it. */
    fun path(report: RideReport, app: String, owner: String, id: String): String = when (report) {
      RideReport.SIGN_OUT -> "/v1/devices/${part(app)}/${part(id)}"
      RideReport.PHONE -> "/v1/devices"
      RideReport.END_CARD -> "/v1/live-activities/${part(app)}/${part(id)}?owner_id=${part(owner)}"
      RideReport.SEEN -> "/v1/seen"
      RideReport.CONTACT -> "/v1/contact"
    }

    private fun part(text: String): String = URLEncoder.encode(text, "UTF-8").replace("+", "%20")
  }
}

/** A person who is signed in, and the tokens that may have reached the server in this session. */
data class RideSession(
  val number: Int,
  val owner: String,
  /** Those that were sent since the last one that was confirmed, with that one. */
  val tokens: List<String> = emptyList(),
  val isConfirmed: Boolean = false,
  /** Whether the backend refused the last one; it may have taken an earlier one that was not answered. */
  val isRefused: Boolean = false
) {
  fun json(): JSONObject = JSONObject().put("number", number).put("owner", owner)
    .put("tokens", JSONArray(tokens)).put("isConfirmed", isConfirmed).put("isRefused", isRefused)

  companion object {
    fun of(json: JSONObject) = RideSession(
      json.getInt("number"), json.getString("owner"),
      json.getJSONArray("tokens").let { list -> (0 until list.length()).map { list.getString(it) } },
      json.getBoolean("isConfirmed"), json.getBoolean("isRefused"))
  }
}

internal fun JSONObject.textOrNull(key: String): String? = if (has(key)) getString(key) else null

/** The outcome of one attempt. */
sealed class RideResult {
  object Done : RideResult()
  /** No answer, or one that may change; [after] is the backend's `Retry-After` in seconds. */
  data class Failed(val reason: String, val after: Long? = null, val isAnswer: Boolean = false) : RideResult()
  data class Refused(val reason: String) : RideResult()

  companion object {
    fun of(status: Int, after: Long?, call: RideCall): RideResult = when {
      status in 200..299 -> Done
      // What is gone need not be withdrawn.
      call.body == null && (status == 404 || status == 410) -> Done
      // The app may be about to renew its session; one that ended is not renewed.
      status == 401 && !call.isSignOut -> Failed("401", after, true)
      status == 408 || status == 425 || status == 429 || status >= 500 -> Failed("$status", after, true)
      status == 409 && after != null -> Failed("409", after, true)
      else -> Refused("$status")
    }
  }
}

/** The pause before the next attempt, in milliseconds. */
object RidePause {
  const val LONGEST = 3_600_000L

  /** Returns 1, 2, 4 … seconds up to 15 minutes, shortened by up to a half; [jitter] is from 0 to 1. */
  fun after(attempts: Int, jitter: Double, retryAfter: Long?): Long {
    val pause = minOf(900_000L, 1000L shl (attempts - 1).coerceIn(0, 15))
    val asked = ((retryAfter ?: 0).coerceIn(0, 3600)) * 1000
    return maxOf((pause * (1 - jitter.coerceIn(0.0, 1.0) / 2)).toLong(), asked)
  }
}
