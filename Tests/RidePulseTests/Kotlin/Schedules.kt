// The queue of clients/kotlin under random kills, holes, sign-ins and sign-outs, against a model of the server.
//
// usage: SchedulesKt COUNT; prints what is wrong with the first schedule that fails, or what was registered.

package com.example.rides

import java.util.Random
import org.json.JSONObject

/** A phone with the queue, as RideClient drives it, and a network with holes. */
class ModelPhone(seed: Int) {
  val server = ModelServer()
  private val random = Random(seed * 7919L)
  private var count = 0
  private var now = 1_790_000_000_000L
  private var queue = RideQueue(null, "p0")
  private var disk = queue.json().toString()
  private val sent = ArrayList<RideCall>()
  /** Sessions that ended, whose header the app has not returned yet. */
  private val asked = ArrayList<RideSession>()
  /** What Android and the app have: they outlive the process. */
  private var owner: String? = null
  private var token = next("t")
  /** Receipts and swipes of the session. */
  private val reports = ArrayList<String>()
  private var hasAuthorization = true
  val history = ArrayList<String>()
  val faults = ArrayList<String>()

  private fun next(name: String): String {
    count += 1
    return "$name$count"
  }

  private fun oneIn(count: Int) = random.nextInt(count) == 0

  private fun register() = add(RideReport.PHONE, token, body().put("token", token))

  private fun body() = JSONObject().put("app", APP).put("owner_id", owner).put("installation_id", "i1")

  private fun add(report: RideReport, id: String, body: JSONObject?) = queue.add(report, id, APP, body, now)

  private fun save() {
    disk = queue.json().toString()
  }

  /** Does one random thing. */
  fun step() {
    val what = random.nextInt(17)
    history.add("$what ${owner ?: "-"}")
    when (what) {
      0 -> signIn()
      1 -> if (oneIn(2)) signOut()
      2 -> kill()
      3 -> {
        token = next("t")
        if (owner != null) register()
      }
      4 -> if (owner != null) report(RideReport.END_CARD, next("card"), null)
      5 -> if (owner != null) next("seen").let { report(RideReport.SEEN, it, JSONObject().put("apns_id", it)) }
      6 -> if (owner != null) add(RideReport.CONTACT, "", body())
      7 -> now += random.nextInt(300_000)
      8 -> queue.hurry()
      9, 10 -> answer(false)
      11 -> if (oneIn(4)) server.refused = if (server.refused == null) "cleo" else null
      12 -> hasAuthorization = !hasAuthorization
      13 -> farewell()
      else -> send()
    }
    save()
  }

  private fun report(report: RideReport, id: String, body: JSONObject?) {
    reports.add(id)
    add(report, id, body)
  }

  private fun signIn() {
    val next = listOf("anna", "ben", "cleo")[random.nextInt(3)]
    // Most apps sign out first.
    if (owner != null && next != owner && !oneIn(4)) signOut()
    if (owner != next) reports.clear()
    owner = next
    queue.signIn(next, APP, now)?.let { asked.add(it) }
    save()
    // It may end before it reports the rest.
    if (oneIn(8)) kill() else register()
  }

  /** The app returns a header, or none: a sign-out asks for it when it is sent. */
  private fun farewell() {
    if (asked.isEmpty()) return
    queue.farewell(asked.removeAt(random.nextInt(asked.size)).number, if (hasAuthorization) "header" else null)
  }

  private fun signOut() {
    queue.signOut(APP, now)?.let { asked.add(it) }
    save()
    owner = null
    reports.clear()
    if (oneIn(8)) kill()
  }

  /** What is on its way may arrive or not, and later starts of the app sign in and register again. */
  private fun kill() {
    if (oneIn(2)) save()
    for (call in sent) if (oneIn(2)) server.receive(call)
    sent.clear()
    asked.clear()
    queue = RideQueue(JSONObject(disk), next("p"))
    owner?.let {
      queue.signIn(it, APP, now)?.let { ended -> asked.add(ended) }
      register()
    }
    save()
  }

  private fun send() {
    for (count in 1..3) leave((queue.next(now) as? RideQueue.Step.Send)?.call ?: return)
  }

  /** Asks for the header, notes that the call leaves, and sends it. */
  private fun leave(call: RideCall) {
    if (call.farewell == null && !hasAuthorization)
      return queue.finished(call.key, RideResult.Failed("no authorization"), now, 0.5)
    val session = queue.session
    if (!call.isSignOut && call.session != session?.number) faults.add("${call.name} of a former session left")
    if (call.isSignOut && session != null && session.tokens.isNotEmpty() && !session.isRefused)
      faults.add("the sign-out of ${call.owner} left behind a registration of ${session.owner}")
    if (sent.any { it.slot == call.slot && !it.isSignOut }) faults.add("two of ${call.slot} are on their way")
    if (!queue.leaves(call.key)) return queue.finished(call.key, RideResult.Failed("signed out"), now, 0.5)
    sent.add(call)
    save()
  }

  private fun answer(isWhole: Boolean) {
    if (sent.isEmpty()) return
    val call = sent.removeAt(random.nextInt(sent.size))
    val result = when (if (isWhole) 4 else random.nextInt(5)) {
      0 -> RideResult.Failed("lost")
      1 -> RideResult.Failed("answer lost").also { server.receive(call) }
      2 -> RideResult.Failed("503", if (oneIn(2)) 2 else null, true)
      else -> RideResult.of(server.receive(call), null, call)
    }
    queue.finished(call.key, result, now, 0.5)
  }

  /** The network is whole again: sends all that waits. */
  private fun settle() {
    hasAuthorization = true
    for (round in 1..10_000) {
      val step = queue.next(now)
      when {
        step is RideQueue.Step.Send -> leave(step.call)
        sent.isNotEmpty() -> answer(true)
        asked.isNotEmpty() -> farewell()
        step is RideQueue.Step.Wait -> now = step.until
        else -> return
      }
    }
    faults.add("it never ends")
  }

  /** Returns what is wrong at the end; empty if the server has what the last session has, and no more. */
  fun result(): List<String> {
    settle()
    val person = owner
    val isRefused = person != null && person == server.refused
    // No call tells whether the server keeps what it took of a person before it refused them.
    val enabled = server.enabled.filter { !(isRefused && it.endsWith(" of $person")) }.toSet()
    val expected = if (person == null || isRefused) emptySet() else setOf("$token of $person")
    if (enabled != expected) faults.add("enabled $enabled, expected $expected")
    if (person != null && !isRefused && server.wasNeverRefused)
      for (id in reports) if (!server.has(id, person)) faults.add("$id of $person did not arrive")
    if (queue.waiting.isNotEmpty()) faults.add("still waiting: ${queue.waiting.map { it.name }}")
    return faults + server.faults
  }

  val isRegistered: Boolean get() = server.enabled.isNotEmpty()

  private companion object {
    const val APP = "customer"
  }
}

fun main(args: Array<String>) {
  var registered = 0
  for (seed in 1..args[0].toInt()) {
    val phone = ModelPhone(seed)
    for (count in 1..120) phone.step()
    val faults = phone.result()
    if (faults.isNotEmpty()) {
      println("seed $seed: $faults; history ${phone.history.takeLast(30)}")
      return
    }
    if (phone.isRegistered) registered += 1
  }
  println("registered $registered")
}
