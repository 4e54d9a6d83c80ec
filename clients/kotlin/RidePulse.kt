package com.example.rides

import android.app.Activity
import android.app.Application
import android.content.Context
import android.os.Bundle
import androidx.core.app.NotificationCompat
import androidx.core.app.NotificationManagerCompat
import com.google.firebase.messaging.FirebaseMessaging
import java.io.File
import java.io.IOException
import java.util.Locale
import java.util.TimeZone
import org.json.JSONObject

/**
 * Registers this phone with your backend, and reports to it. Set its properties in `Application.onCreate`, then
 * call [start].
 */
object RidePulse {
  /** The app's name in the rule files, and what precedes `/v1/devices` at your backend. */
  var app = "customer"
  var backend = "https://api.example.com/push"
  /**
   * Returns the `Authorization` header of a person's session; null if it is over or can't be read now. It may
   * block and throw, and is called on several threads, none of them the main thread.
   */
  var authorization: (owner: String) -> String? = { null }
  /** Receives what to log: what was repeated, refused or dropped. */
  var onEvent: (RideEvent) -> Unit = {}
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

  private var client: RideClient? = null
  private var memory: RideMemory? = null
  /** The token and whether alerts were allowed, as they were reported last. */
  private var reported: Pair<String, Boolean>? = null

  /** Call it in `Application.onCreate`: sends what waits, and reports each return to the foreground. */
  fun start(application: Application) {
    client(application).hurry()
    application.registerActivityLifecycleCallbacks(RideForeground { becameActive(application) })
  }

  /** Call it at each launch with a session, and after each sign-in. */
  fun signedIn(context: Context, owner: String) {
    val last = client(context).owner
    client(context).signIn(owner)
    if (last != null && last != owner) forget(context)
    register(context)
  }

  /** Call it when the person answered whether the app may notify. */
  fun register(context: Context) {
    // With installation IDs: FirebaseMessaging.getInstance().register()
    FirebaseMessaging.getInstance().token.addOnSuccessListener { registered(context, it) }
      .addOnFailureListener { onEvent(RideEvent(RideEvent.Kind.NO_TOKEN, "phone", "$it")) }
  }

  /**
   * Call it before the session ends, which may end when [done] is called: after the answer, or 5 seconds. The
   * sign-out is stored, and sent until it is answered, also by the next process.
   */
  fun signOut(context: Context, done: () -> Unit = {}) {
    client(context).signOut()
    forget(context)
    client(context).flush(5000, done)
  }

  /** Takes away what is shown about a person, and what is known of it. */
  private fun forget(context: Context) {
    memory(context).forget()
    RideNotifications.clear(context)
  }

  /** Firebase's token or installation ID, which may change at any time. */
  fun registered(context: Context, token: String) {
    if (client(context).owner == null) return
    val alerts = NotificationManagerCompat.from(context).areNotificationsEnabled()
    reported = Pair(token, alerts)
    client(context).phone(token, JSONObject().put("platform", "android")
      .put("locale", Locale.getDefault().toLanguageTag()).put("time_zone", TimeZone.getDefault().id)
      .put("alerts", alerts)
      .putOpt("app_version", context.packageManager.getPackageInfo(context.packageName, 0).versionName))
  }

  private fun becameActive(context: Context) {
    contact(context)
    // The person may come back from Settings.
    val alerts = NotificationManagerCompat.from(context).areNotificationsEnabled()
    reported?.let { (token, last) -> if (last != alerts) registered(context, token) }
  }

  /** The person swiped a card away. [done] is called after the answer, or before Android's limit. */
  fun dismissed(context: Context, card: String, done: () -> Unit) {
    if (memory(context).dismiss(card)) {
      RideNotifications.dismissed(card)
      client(context).endCard(card)
    }
    client(context).flush(8000, done)
  }

  /** The person saw an alert, for rules with `escalate`: its `rp_id`. */
  fun seen(context: Context, id: String) = client(context).seen(id)

  /** The app worked for the person, for rules that wait for contact. */
  fun contact(context: Context) {
    client(context).hurry()
    client(context).contact()
  }

  /** Returns whether to show a message: once, and only while a person is signed in. */
  fun takes(context: Context, message: RideMessage, now: Long): Boolean =
    client(context).owner != null && memory(context).takes(message, now)

  /** Runs `style` or `refresh`, which may throw anything. */
  fun guarded(context: Context, what: String, run: () -> Unit) = try {
    run()
  } catch (problem: Exception) {
    client(context).note(RideEvent(RideEvent.Kind.THREW, what, "$problem"))
  }

  @Synchronized
  private fun client(context: Context): RideClient =
    client ?: RideClient(folder(context), app, backend, { authorization(it) }, { onEvent(it) })
      .also { client = it }

  @Synchronized
  private fun memory(context: Context): RideMemory {
    memory?.let { return it }
    val file = File(folder(context), "memory")
    val stored = try { file.readText() } catch (problem: IOException) { null }
    val client = client(context)
    return RideMemory(stored) { write(file, it, client) }.also { memory = it }
  }

  // Not in a backup: another phone that is restored from it is another installation.
  private fun folder(context: Context) = File(context.noBackupFilesDir, "ridepulse")

  // The memory is locked, so the app is told on another thread.
  private fun write(file: File, text: String, client: RideClient) = try {
    RideClient.write(file, text)
  } catch (problem: IOException) {
    client.note(RideEvent(RideEvent.Kind.NOT_SAVED, file.path, "$problem"))
  }
}

/** Calls [opened] when the first of the app's activities is shown. */
private class RideForeground(private val opened: () -> Unit) : Application.ActivityLifecycleCallbacks {
  private var count = 0

  override fun onActivityStarted(activity: Activity) {
    count += 1
    if (count == 1) opened()
  }

  override fun onActivityStopped(activity: Activity) {
    count -= 1
  }

  override fun onActivityCreated(activity: Activity, state: Bundle?) {}
  override fun onActivityResumed(activity: Activity) {}
  override fun onActivityPaused(activity: Activity) {}
  override fun onActivitySaveInstanceState(activity: Activity, state: Bundle) {}
  override fun onActivityDestroyed(activity: Activity) {}
}
