package com.example.rides

import android.content.Context
import androidx.core.app.NotificationCompat
import androidx.core.app.NotificationManagerCompat
import com.google.firebase.messaging.FirebaseMessaging
import java.io.File
import java.io.IOException
import java.net.HttpURLConnection
import java.net.URL
import java.net.URLEncoder
import java.util.Locale
import java.util.TimeZone
import java.util.UUID
import java.util.concurrent.Executors
import org.json.JSONObject

/** Registers this phone with your backend, and reports to it. Set its properties in `Application.onCreate`. */
object RidePulse {
  /** The app's name in the rule files, and what precedes `/v1/devices` at your backend. */
  var app = "customer"
  var backend = "https://api.example.com/push"
  /** Returns the `Authorization` header of the session; null without one. */
  var authorization: () -> String? = { null }
  /** Drawables: the status bar's icon, and the car on the bar of a card. */
  var icon = 0
  var tracker = 0
  /** Adds what only the app knows: actions, pictures, texts made from the generated state. */
  var style: (NotificationCompat.Builder, RideMessage) -> Unit = { _, _ -> }
  /** Reads the ride again, for a background push; null if messages were lost. */
  var refresh: (RideMessage?) -> Unit = {}
  /** Names and importance of the channels. A rule may name others, which the app adds. */
  val channels = linkedMapOf(
    "ride_live" to Pair("Current ride", NotificationManagerCompat.IMPORTANCE_HIGH),
    "ride_now" to Pair("Urgent", NotificationManagerCompat.IMPORTANCE_HIGH),
    "ride_news" to Pair("News of rides", NotificationManagerCompat.IMPORTANCE_DEFAULT),
    "ride_quiet" to Pair("Silent", NotificationManagerCompat.IMPORTANCE_LOW))

  private val calls = Executors.newSingleThreadExecutor()
  private var memory: RideMemory? = null

  /** Call it at each launch with a session, after each sign-in, and when the person allowed notifications. */
  fun signedIn(context: Context, owner: String) {
    val last = read(context, "owner")
    if (last != null && last != owner) forget(context)
    write(context, "owner", owner)
    // With installation IDs: FirebaseMessaging.getInstance().register()
    FirebaseMessaging.getInstance().token.addOnSuccessListener { registered(context, it) }
  }

  /** Call it before the session ends, which may end when [done] is called. */
  fun signOut(context: Context, done: () -> Unit = {}) {
    val token = read(context, "token")
    for (name in listOf("owner", "token")) write(context, name, null)
    forget(context)
    if (token == null) done() else call("DELETE", "/v1/devices/$app/${path(token)}", null, done)
  }

  /** Takes away what is shown about a person, and what is known of it. */
  private fun forget(context: Context) {
    memory(context).forget()
    RideNotifications.clear(context)
  }

  /** Firebase's token or installation ID, which may change at any time. */
  fun registered(context: Context, token: String) {
    val body = person(context) ?: return
    write(context, "token", token)
    body.put("token", token).put("platform", "android")
      .put("locale", Locale.getDefault().toLanguageTag()).put("time_zone", TimeZone.getDefault().id)
      .put("alerts", NotificationManagerCompat.from(context).areNotificationsEnabled())
      .put("app_version", context.packageManager.getPackageInfo(context.packageName, 0).versionName)
    call("POST", "/v1/devices", body)
  }

  fun dismissed(context: Context, card: String, done: () -> Unit) =
    if (!memory(context).dismiss(card)) done()
    else call("DELETE", "/v1/live-activities/$app/${path(card)}", null, done)

  /** The person saw a message, for rules with `escalate`. */
  fun seen(message: RideMessage) = call("POST", "/v1/seen", JSONObject().put("apns_id", message.id))

  /** The app worked for the ride, for rules that wait for contact. */
  fun contact(context: Context) {
    person(context)?.let { call("POST", "/v1/contact", it) }
  }

  /** Returns whether to show a message: once, and only while a person is signed in. */
  fun takes(context: Context, message: RideMessage, now: Long): Boolean =
    read(context, "owner") != null && memory(context).takes(message, now)

  private fun person(context: Context): JSONObject? {
    val owner = read(context, "owner") ?: return null
    val installation = read(context, "installation") ?: UUID.randomUUID().toString()
    write(context, "installation", installation)
    return JSONObject().put("app", app).put("owner_id", owner).put("installation_id", installation)
  }

  @Synchronized
  private fun memory(context: Context): RideMemory {
    val files = context.applicationContext
    return memory ?: RideMemory(read(files, "memory")) { write(files, "memory", it) }.also { memory = it }
  }

  // Not in a backup: another phone that is restored from it is another installation.
  private fun file(context: Context, name: String) = File(context.noBackupFilesDir, "ridepulse-$name")

  private fun read(context: Context, name: String): String? =
    file(context, name).takeIf { it.exists() }?.readText()

  private fun write(context: Context, name: String, text: String?) {
    if (text == null) file(context, name).delete() else file(context, name).writeText(text)
  }

  private fun path(text: String): String = URLEncoder.encode(text, "UTF-8").replace("+", "%20")

  /** Calls go one after another, so that no registration arrives after a sign-out. */
  private fun call(method: String, path: String, body: JSONObject? = null, done: () -> Unit = {}) =
    calls.execute {
      // After a minute it is lost. The next launch registers again; a DELETE is your backend's.
      for ((attempt, seconds) in listOf(0L, 1L, 2L, 4L, 8L, 15L, 30L).withIndex()) {
        Thread.sleep(seconds * 1000)
        val status = try { send(method, path, body) } catch (problem: IOException) { 503 }
        if (attempt == 0) done()
        if (status < 500 && status != 401 && status != 429) break
      }
    }

  private fun send(method: String, path: String, body: JSONObject?): Int {
    val connection = URL(backend + path).openConnection() as HttpURLConnection
    connection.requestMethod = method
    connection.connectTimeout = 5000
    connection.readTimeout = 10000
    authorization()?.let { connection.setRequestProperty("Authorization", it) }
    if (body != null) {
      connection.doOutput = true
      connection.setRequestProperty("Content-Type", "application/json")
      connection.outputStream.use { it.write(body.toString().toByteArray()) }
    }
    return connection.responseCode.also { connection.disconnect() }
  }
}
