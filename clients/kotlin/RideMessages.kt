package com.example.rides

import org.json.JSONArray
import org.json.JSONException
import org.json.JSONObject

/** One message of RidePulse: the `data` of a `RemoteMessage`. */
class RideMessage private constructor(
  private val data: Map<String, String>,
  /** The same in each attempt to send it; `ridepulse explain --apns-id` finds it. */
  val id: String,
  val kind: Kind,
  /** Seconds since 1970; of a card, a number that rises with each of its messages. */
  val time: Long
) {
  enum class Kind(val word: String) { ALERT("alert"), BACKGROUND("background"), CARD("card") }

  /** Returns the value of a key: one of RidePulse's, or one that the rule has in `data`. */
  operator fun get(key: String): String? = data[key]

  val ride: String? get() = data["rp_ride"]
  /** The card, as the backend's `DELETE /v1/live-activities/{app}/{card}` names it. */
  val card: String get() = data["rp_card"] ?: ""
  /** What a later notification replaces. */
  val tag: String get() = data["rp_card"] ?: data["rp_tag"] ?: id
  val isStart: Boolean get() = data["rp_event"] == "start"
  val isEnd: Boolean get() = data["rp_event"] == "end"
  /** Counts how often the card has begun in the ride: FCM may lose any message, also a start. */
  val run: Long get() = data["rp_run"]?.toLongOrNull() ?: 0
  /** Whether a card alerts: all its other messages are silent. */
  val isAlerting: Boolean get() = data["rp_alert"] == "1"
  /** Seconds since 1970, from when the content is not reliable any more. */
  val staleAt: Long? get() = data["rp_stale_at"]?.toLongOrNull()
  /** Seconds since 1970, when the card goes away by itself. */
  val goneAt: Long? get() = data["rp_gone_at"]?.toLongOrNull()
  val look: RideLook get() = RideLook.of(data["rp_look"])

  /** Seconds since 1970, from when it is worth nothing any more. A card has [goneAt] instead. */
  val until: Long? get() = data["rp_until"]?.toLongOrNull()
  /** Seconds since 1970, when the offer of a ride is over: after the rule's `seconds`, if it has them. */
  val offerEnd: Long?
    get() = if (data["rp_category"] != "RIDE_OFFER") null
      else data["seconds"]?.toLongOrNull()?.let { time + it } ?: until

  fun isExpired(now: Long): Boolean = kind != Kind.CARD && listOfNotNull(until, offerEnd).any { it <= now }

  /** Returns `title` or `body`: the text that was sent, or the app's own by its name in strings.xml. */
  fun text(part: String, resource: (name: String, arguments: List<String>) -> String?): String? =
    data["rp_$part"] ?: data["rp_${part}_key"]?.let { resource(it, texts(data["rp_${part}_args"])) }

  companion object {
    /** Returns null for a message of another sender. */
    fun of(data: Map<String, String>): RideMessage? {
      val kind = Kind.values().firstOrNull { it.word == data["rp_kind"] } ?: return null
      val id = data["rp_id"] ?: return null
      val time = data["rp_ts"]?.toLongOrNull() ?: return null
      if (kind == Kind.CARD && data["rp_card"].isNullOrEmpty()) return null
      return RideMessage(data, id, kind, time)
    }

    private fun texts(json: String?): List<String> =
      try {
        JSONArray(json ?: "[]").let { list -> (0 until list.length()).map { list.getString(it) } }
      } catch (problem: JSONException) {
        emptyList()
      }
  }
}

/** How the rule wants the card to look, `android:` next to its `live-activity`. What it lacks is null. */
data class RideLook(
  val title: String? = null,
  val text: String? = null,
  /** The chip of the status bar, unless there is a countdown. */
  val short: String? = null,
  val color: String? = null,
  /** Seconds since 1970. */
  val countdown: Long? = null,
  /** The segments of the bar; 0 without one. */
  val steps: Int = 0,
  val labels: List<String> = emptyList(),
  /** From 0 to 100 times [steps]. */
  val progress: Int = 0
) {
  companion object {
    /** Returns an empty look for a text that is none, so that the card still shows. */
    fun of(json: String?): RideLook =
      try {
        val look = JSONObject(json ?: "{}")
        val labels = look.optJSONArray("labels") ?: JSONArray()
        val fraction = look.optDouble("fraction", 0.0).coerceIn(0.0, 1.0)
        val steps = look.optInt("steps").coerceIn(0, 100)
        RideLook(
          title = text(look, "title"), text = text(look, "text"), short = text(look, "short"),
          color = text(look, "color")?.takeIf { colors.matches(it) },
          steps = steps,
          countdown = look.optLong("countdown").takeIf { it > 0 },
          labels = (0 until labels.length()).map { labels.optString(it) },
          progress = ((look.optInt("step") + fraction) * 100).toInt().coerceIn(0, steps * 100)
        )
      } catch (problem: JSONException) {
        RideLook()
      }

    private val colors = Regex("#[0-9a-fA-F]{6}")

    private fun text(look: JSONObject, key: String): String? =
      if (look.isNull(key)) null else look.optString(key)
  }
}

/**
 * What was shown, so that a message that comes twice, late or out of order changes nothing: FCM promises
 * no order. One for all callers; it outlives the process in a text that [write] stores.
 */
class RideMemory(stored: String?, private val write: (String) -> Unit) {
  private enum class State { LIVE, ENDED, DISMISSED }

  private class Card(val time: Long, val state: State, val run: Long)

  private val ids = LinkedHashSet<String>()
  private val cards = LinkedHashMap<String, Card>()

  init {
    try {
      val json = JSONObject(stored ?: "{}")
      val known = json.optJSONArray("ids") ?: JSONArray()
      for (index in 0 until known.length()) ids.add(known.getString(index))
      val shown = json.optJSONObject("cards") ?: JSONObject()
      for (name in shown.keys().asSequence().map { it.toString() }) {
        val card = shown.getJSONArray(name)
        cards[name] = Card(card.getLong(0), State.valueOf(card.getString(1)), card.getLong(2))
      }
    } catch (problem: JSONException) {
      clear()
    } catch (problem: IllegalArgumentException) {
      clear()
    }
  }

  /** Returns whether the app shows the message, and remembers it. */
  @Synchronized
  fun takes(message: RideMessage, now: Long): Boolean {
    if (message.isExpired(now)) return false
    // A card's message that is sent again may show a newer state under its old ID: its time decides.
    val isTaken = if (message.kind == RideMessage.Kind.CARD) takesCard(message) else ids.add(message.id)
    trim(ids, 300)
    save()
    return isTaken
  }

  private fun takesCard(message: RideMessage): Boolean {
    val card = cards[message.card]
    // The time rises with each message, also of an end: it is never set back.
    if (card != null && message.time <= card.time) return false
    if (card?.state == State.DISMISSED) return false
    // What has ended comes back with a start, or with what follows a start that was lost.
    if (card?.state == State.ENDED && !message.isStart && message.run <= card.run) return false
    cards.remove(message.card)
    cards[message.card] = Card(message.time, if (message.isEnd) State.ENDED else State.LIVE, message.run)
    trim(cards.keys, 100)
    // The end of a card that was never on this screen has nothing to end.
    return card != null || !message.isEnd
  }

  /** The person swiped the card away. Returns whether to report it: not twice, nor of an ended one. */
  @Synchronized
  fun dismiss(name: String): Boolean {
    val card = cards[name] ?: return false
    if (card.state != State.LIVE) return false
    cards[name] = Card(card.time, State.DISMISSED, card.run)
    save()
    return true
  }

  /** Forgets everything: another person may sign in. */
  @Synchronized
  fun forget() {
    clear()
    save()
  }

  private fun clear() {
    ids.clear()
    cards.clear()
  }

  private fun trim(oldest: MutableCollection<String>, count: Int) {
    while (oldest.size > count) oldest.remove(oldest.first())
  }

  private fun save() {
    val shown = JSONObject()
    for ((name, card) in cards) shown.put(name, JSONArray(listOf(card.time, card.state.name, card.run)))
    write(JSONObject().put("ids", JSONArray(ids)).put("cards", shown).toString())
  }
}
