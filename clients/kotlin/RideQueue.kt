package com.example.rides

import org.json.JSONArray
import org.json.JSONException
import org.json.JSONObject

/**
 * The calls that wait, and the session that they belong to: no clock, disk, network or Android in it.
 *
 * A newer call of a slot replaces one that waits, and none waits for one that fails. What was registered
 * in a session that ended is never sent again, and a sign-out is never behind a registration.
 */
class RideQueue(stored: JSONObject? = null, private val process: String) {
  sealed class Step {
    data class Send(val call: RideCall) : Step()
    data class Wait(val until: Long) : Step()
    object Idle : Step()
  }

  var session: RideSession? = null
    private set
  private var lastSession = 0
  private val calls = ArrayList<RideCall>()
  /** Keys of calls that are on their way. A process that starts has none. */
  private val inFlight = HashSet<String>()
  /** Sessions that ended, while their header is asked for. A process that starts has none. */
  private val asking = HashSet<Int>()
  private var events = ArrayList<RideEvent>()
  private var keyCount = 0

  val waiting: List<RideCall> get() = calls
  val isBusy: Boolean get() = inFlight.isNotEmpty() || asking.isNotEmpty()

  /** Throws a JSONException or an IllegalArgumentException for what this version can't read. */
  init {
    if (stored != null) {
      if (stored.getInt("version") != VERSION) throw JSONException("version")
      lastSession = stored.getInt("lastSession")
      if (stored.has("session")) session = RideSession.of(stored.getJSONObject("session"))
      val list = stored.getJSONArray("calls")
      for (index in 0 until list.length()) calls.add(RideCall.of(list.getJSONObject(index)))
      drop("signed out") { !it.isSignOut && it.session != session?.number }
      // One that was on its way, and a newer one behind it.
      drop("replaced by a newer one") { isReplaced(it) }
    }
  }

  fun json(): JSONObject {
    val json = JSONObject().put("version", VERSION).put("lastSession", lastSession)
    session?.let { json.put("session", it.json()) }
    return json.put("calls", JSONArray(calls.map { it.json() }))
  }

  /** Begins a session, or goes on with that of the same person. Returns what [signOut] does. */
  fun signIn(owner: String, app: String, now: Long): RideSession? =
    if (session?.owner == owner) null
    else signOut(app, now).also { session = RideSession(++lastSession, owner) }

  /**
   * Ends the session: what waits is dropped, and what the server may have is withdrawn. Returns it if there is
   * something to withdraw, which waits until [farewell] has the header.
   */
  fun signOut(app: String, now: Long): RideSession? {
    val ended = session ?: return null
    session = null
    drop("signed out") { it.session == ended.number && !it.isSignOut && it.key !in inFlight }
    if (ended.tokens.isEmpty()) return null
    for (token in ended.tokens) calls.add(call(RideReport.SIGN_OUT, token, ended, app, null, now))
    asking.add(ended.number)
    return ended
  }

  /** Adds the header of a session that ended; without one each attempt asks for it. */
  fun farewell(session: Int, header: String?) {
    asking.remove(session)
    for ((index, call) in calls.withIndex())
      if (call.isSignOut && call.session == session) calls[index] = call.copy(farewell = header)
  }

  /** Adds a report of the present session, in the place of an older one of its slot. */
  fun add(report: RideReport, id: String, app: String, body: JSONObject?, now: Long) {
    val current = session
    if (current == null) {
      note(RideEvent.Kind.DROPPED, report.name, "nobody is signed in")
      return
    }
    val new = call(report, id, current, app, body, now)
    val old = calls.indexOfFirst { it.session == new.session && it.slot == new.slot && it.key !in inFlight }
    // A change that the server has not seen is tried at once; the same again keeps its pause.
    val isSame = old >= 0 && calls[old].body == new.body && report != RideReport.CONTACT
    if (old < 0) calls.add(new) else if (!isSame) calls[old] = new
  }

  /** Returns the next step; a call to send counts as on its way. */
  fun next(now: Long): Step {
    drop("too old") { it.isExpired(now) && it.key !in inFlight }
    val free = calls.filter { isFree(it) }
    val due = free.filter { it.due(now) <= now }.sortedBy { it.report.rank }.firstOrNull()
    if (due == null) return free.map { it.due(now) }.sorted().firstOrNull()?.let { Step.Wait(it) } ?: Step.Idle
    val call = due.copy(attempts = due.attempts + 1)
    calls[calls.indexOf(due)] = call
    inFlight.add(call.key)
    return Step.Send(call)
  }

  /** Notes that a call leaves, after its header was asked for; false if its session ended meanwhile. */
  fun leaves(key: String): Boolean {
    val call = calls.firstOrNull { it.key == key } ?: return false
    if (call.isSignOut) return true
    val current = session?.takeIf { it.number == call.session } ?: return false
    if (call.report == RideReport.PHONE)
      session = current.copy(tokens = current.tokens - call.id + call.id, isRefused = false)
    return true
  }

  /** Notes the outcome of an attempt. [jitter] is from 0 to 1. */
  fun finished(key: String, result: RideResult, now: Long, jitter: Double) {
    inFlight.remove(key)
    val index = calls.indexOfFirst { it.key == key }
    if (index < 0) return
    val call = calls[index]
    val current = session?.takeIf { it.number == call.session }
    when (result) {
      is RideResult.Done -> {
        calls.removeAt(index)
        if (current != null && call.report == RideReport.PHONE) confirm(current, call.id)
      }
      is RideResult.Refused -> {
        calls.removeAt(index)
        if (call.report == RideReport.PHONE) session = current?.copy(isRefused = true) ?: session
        note(RideEvent.Kind.REFUSED, call.name, result.reason)
      }
      is RideResult.Failed ->
        if (isReplaced(call)) drop("replaced by a newer one") { it.key == key }
        else if (!call.isSignOut && current == null) drop("signed out") { it.key == key }
        else {
          val pause = RidePause.after(call.attempts, jitter, result.after)
          calls[index] = call.copy(
            answers = call.answers + (if (result.isAnswer) 1 else 0), notBefore = now + pause,
            isToldToWait = result.after != null)
          note(RideEvent.Kind.REPEATED, call.name, "${result.reason}, after $pause ms")
        }
    }
  }

  /** Tries at once what the backend did not ask to wait: the app came to the foreground, or has a network. */
  fun hurry() {
    for (index in calls.indices)
      if (!calls[index].isToldToWait) calls[index] = calls[index].copy(notBefore = null)
  }

  /** Returns the events since the last time. */
  fun takeEvents(): List<RideEvent> = events.also { events = ArrayList() }

  fun note(kind: RideEvent.Kind, what: String, reason: String) {
    events.add(RideEvent(kind, what, reason))
  }

  private fun call(
    report: RideReport, id: String, session: RideSession, app: String, body: JSONObject?, now: Long
  ): RideCall {
    keyCount += 1
    return RideCall(
      "$process-$keyCount", session.number, session.owner, report, id,
      RideCall.path(report, app, session.owner, id), body?.toString(), now)
  }

  private fun drop(reason: String, which: (RideCall) -> Boolean) {
    val dropped = calls.filter(which)
    for (call in dropped) note(RideEvent.Kind.DROPPED, call.name, reason)
    calls.removeAll(dropped)
  }

  private fun isReplaced(call: RideCall): Boolean = !call.isSignOut && calls.drop(calls.indexOf(call) + 1)
    .any { !it.isSignOut && it.session == call.session && it.slot == call.slot }

  private fun confirm(current: RideSession, token: String) {
    session = current.copy(tokens = listOf(token), isConfirmed = true, isRefused = false)
    // The server has withdrawn what former persons had on this installation.
    drop("another person is registered") { it.isSignOut && it.session < current.number }
  }

  /** Whether nothing has to be over before the call is sent. */
  private fun isFree(call: RideCall): Boolean {
    if (call.key in inFlight) return false
    val others = calls.filter { it.key in inFlight }
    val current = session
    if (call.isSignOut) {
      // Never behind a registration that may have taken its place, or is about to.
      return (current == null || current.tokens.isEmpty() || current.isRefused) &&
        call.session !in asking && others.none { !it.isSignOut && (it.session <= call.session || it.slot == call.slot) }
    }
    if (current == null || call.session != current.number) return false
    val isPhone = call.report == RideReport.PHONE
    if (!isPhone && others.count { it.report != RideReport.PHONE } >= WIDTH) return false
    if (others.any { it.slot == call.slot }) return false
    // What the same person registers again waits for the sign-out, which would withdraw it.
    return !isPhone ||
      calls.none { it.isSignOut && it.owner == current.owner && it.answers < PATIENCE }
  }

  companion object {
    const val VERSION = 1
    /** Calls besides that of the phone that are on their way at the same time. */
    const val WIDTH = 4
    /** Failures that a backend answers to a sign-out before its person is registered again all the same. */
    const val PATIENCE = 12
  }
}
