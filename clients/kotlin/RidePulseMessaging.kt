package com.example.rides

import android.annotation.SuppressLint
import android.app.PendingIntent
import android.content.BroadcastReceiver
import android.content.Context
import android.content.Intent
import android.graphics.Color
import android.os.Build
import androidx.core.app.NotificationChannelCompat
import androidx.core.app.NotificationCompat
import androidx.core.app.NotificationManagerCompat
import androidx.core.graphics.drawable.IconCompat
import com.google.firebase.messaging.FirebaseMessagingService
import com.google.firebase.messaging.RemoteMessage
import java.util.IllegalFormatException
import org.json.JSONArray

/** Receives what Firebase delivers, and draws it at once: what is left for later waits in Doze. */
class RidePulseMessaging : FirebaseMessagingService() {
  override fun onNewToken(token: String) = RidePulse.registered(this, token)

  override fun onRegistered(installationId: String) = RidePulse.registered(this, installationId)

  // More than 100 messages waited, and Google dropped them all.
  override fun onDeletedMessages() = RidePulse.guarded(this, "refresh") { RidePulse.refresh(null) }

  override fun onMessageReceived(message: RemoteMessage) {
    // While the app is open, Android leaves its own alerts to it.
    val drawn = message.notification?.let {
      mapOf(
        "rp_title" to it.title, "rp_title_key" to it.titleLocalizationKey,
        "rp_title_args" to json(it.titleLocalizationArgs), "rp_body" to it.body,
        "rp_body_key" to it.bodyLocalizationKey, "rp_body_args" to json(it.bodyLocalizationArgs),
        "rp_channel" to it.channelId, "rp_tag" to it.tag)
    } ?: emptyMap()
    val data = message.data + drawn.mapNotNull { (key, value) -> value?.let { key to it } }
    RideMessage.of(data)?.let { RideNotifications.show(this, it) }
  }

  private fun json(texts: Array<String>?): String? = texts?.let { JSONArray(it.toList()).toString() }
}

/** The person swiped a card away. One whose time ran out arrives here, too, and may come back. */
class RideDismissal : BroadcastReceiver() {
  override fun onReceive(context: Context, intent: Intent) {
    val card = intent.action ?: return
    val goneAt = intent.getLongExtra("gone_at", Long.MAX_VALUE)
    if (System.currentTimeMillis() / 1000 < goneAt - 1) RidePulse.dismissed(context, card, goAsync()::finish)
  }
}

/** Draws messages as notifications: one with the same tag replaces the one before. */
object RideNotifications {
  /** Firebase's own: an alert replaces the one with the same tag, drawn by the system or the app. */
  private const val ALERT = 0
  private const val CARD = 1
  private const val flags = PendingIntent.FLAG_IMMUTABLE or PendingIntent.FLAG_UPDATE_CURRENT

  /** The last message of each notification, while it is drawn. */
  private val drawing = HashMap<String, RideMessage>()

  /**
   * Shows a message once, while a person is signed in. The app draws it without a lock, and as long as it
   * likes; meanwhile a newer message, a swipe or a sign-out may make it void.
   */
  @SuppressLint("MissingPermission")
  fun show(context: Context, message: RideMessage) {
    val now = System.currentTimeMillis() / 1000
    if (!takes(context, message, now)) return
    val manager = NotificationManagerCompat.from(context)
    manager.createNotificationChannelsCompat(RidePulse.channels.map { (id, channel) ->
      NotificationChannelCompat.Builder(id, channel.second).setName(channel.first).build()
    })
    when (message.kind) {
      RideMessage.Kind.BACKGROUND -> {
        RidePulse.contact(context)
        RidePulse.guarded(context, "refresh") { RidePulse.refresh(message) }
      }
      RideMessage.Kind.ALERT -> {
        val alert = alert(context, message, now).build()
        val isShown = finish(message) { manager.notify(message.tag, ALERT, alert) }
        if (isShown && manager.areNotificationsEnabled()) RidePulse.seen(context, message.id)
      }
      RideMessage.Kind.CARD ->
        if (message.isEnd && message.goneAt?.let { it <= now } == true)
          finish(message) { manager.cancel(message.tag, CARD) }
        else {
          val card = card(context, message, now).build()
          finish(message) { manager.notify(message.tag, CARD, card) }
        }
    }
  }

  @Synchronized
  private fun takes(context: Context, message: RideMessage, now: Long): Boolean {
    val isTaken = RidePulse.takes(context, message, now)
    if (isTaken && message.kind != RideMessage.Kind.BACKGROUND) drawing[name(message.kind, message.tag)] = message
    return isTaken
  }

  /** Returns whether the message is still the one to show. */
  @Synchronized
  private fun finish(message: RideMessage, show: () -> Unit): Boolean {
    val name = name(message.kind, message.tag)
    if (drawing[name] !== message) return false
    drawing.remove(name)
    show()
    return true
  }

  private fun name(kind: RideMessage.Kind, tag: String) = "$kind $tag"

  /** The person swiped the card away: an update that is being drawn does not bring it back. */
  @Synchronized
  fun dismissed(card: String) {
    drawing.remove(name(RideMessage.Kind.CARD, card))
  }

  @Synchronized
  fun clear(context: Context) {
    drawing.clear()
    NotificationManagerCompat.from(context).cancelAll()
  }

  private fun alert(context: Context, message: RideMessage, now: Long): NotificationCompat.Builder {
    val channel = message["rp_channel"]?.takeIf { RidePulse.channels.containsKey(it) } ?: "ride_news"
    val body = text(context, message, "body")
    val alert = builder(context, message, channel, text(context, message, "title"), body)
      .setStyle(NotificationCompat.BigTextStyle().bigText(body)).setGroup(message["rp_group"])
      .setWhen(message.time * 1000).setAutoCancel(true)
    // An offer that has run out can't be accepted.
    message.offerEnd?.let { alert.setTimeoutAfter((it - now) * 1000) }
    return style(context, alert, message)
  }

  /** A Live Update since Android 16; before, the same as a notification that stays. */
  private fun card(context: Context, message: RideMessage, now: Long): NotificationCompat.Builder {
    val look = message.look
    val dismissal = Intent(context, RideDismissal::class.java).setAction(message.card)
      .putExtra("gone_at", message.goneAt ?: Long.MAX_VALUE)
    val title = look.title ?: text(context, message, "title")
      ?: context.applicationInfo.loadLabel(context.packageManager).toString()
    val card = builder(context, message, "ride_live", title, look.text ?: text(context, message, "body"))
      .setSilent(!message.isAlerting).setOngoing(!message.isEnd).setAutoCancel(message.isEnd)
      .setRequestPromotedOngoing(!message.isEnd)
      .setDeleteIntent(PendingIntent.getBroadcast(context, 0, dismissal, flags))
    // A card never stays because its end was lost.
    message.goneAt?.let { if (it > now) card.setTimeoutAfter((it - now) * 1000) }
    look.color?.let { card.setColor(Color.parseColor(it)) }
    look.short?.let { card.setShortCriticalText(it) }
    look.countdown?.let {
      card.setWhen(it * 1000).setShowWhen(true).setUsesChronometer(true).setChronometerCountDown(true)
    }
    if (look.steps > 0 && Build.VERSION.SDK_INT < 36) card.setProgress(look.steps * 100, look.progress, false)
    if (look.steps > 0 && Build.VERSION.SDK_INT >= 36) card.setStyle(bar(context, look))
    return style(context, card, message)
  }

  /** What the app adds may throw: the notification is shown as it is then. */
  private fun style(context: Context, builder: NotificationCompat.Builder, message: RideMessage) =
    builder.also { RidePulse.guarded(context, "style") { RidePulse.style(it, message) } }

  private fun bar(context: Context, look: RideLook): NotificationCompat.ProgressStyle {
    val bar = NotificationCompat.ProgressStyle().setProgress(look.progress)
    for (step in 0 until look.steps) bar.addProgressSegment(NotificationCompat.ProgressStyle.Segment(100))
    for (step in 1 until look.steps) bar.addProgressPoint(NotificationCompat.ProgressStyle.Point(step * 100))
    val car = RidePulse.tracker
    if (car != 0) bar.setProgressTrackerIcon(IconCompat.createWithResource(context, car))
    return bar
  }

  private fun builder(
    context: Context, message: RideMessage, channel: String, title: String?, text: String?
  ): NotificationCompat.Builder {
    val tap = context.packageManager.getLaunchIntentForPackage(context.packageName)
      ?.setAction(message.tag)?.putExtra("rp_ride", message.ride)
    return NotificationCompat.Builder(context, channel).setSmallIcon(RidePulse.icon).setContentTitle(title)
      .setContentText(text)
      .setContentIntent(tap?.let { PendingIntent.getActivity(context, 0, it, flags) })
  }

  private fun text(context: Context, message: RideMessage, part: String): String? =
    message.text(part) { name, arguments ->
      val id = context.resources.getIdentifier(name, "string", context.packageName)
      try {
        if (id == 0) null else context.getString(id, *arguments.toTypedArray())
      } catch (problem: IllegalFormatException) {
        null
      }
    }
}
