// An Android phone with the kit of clients/kotlin, which KotlinKitTests compiles with stubs of Android's classes.
//
// usage: PhoneKt [BACKEND AUTHORIZATION]; reads lines:
//   sign-in OWNER TOKEN | token TOKEN | message JSON | lost | swipe CARD [GONE-AT] | open | restart | sign-out
//   network lost, whole; leave: a sign-out, and whether it is over within 7 s
//   authorization returns, throws, waits
//   hold: the next call of `style` or `refresh` waits until the line `release`; throw: it throws
//   aside LINE: on another thread, which is let go once it waits in the app's code
// prints `ready`, what is shown and, without a backend, what is called, and `done` after each line. What the kit logs
// goes to the standard error.

package com.example.rides

import android.app.Activity
import android.app.Application
import android.content.Intent
import com.google.firebase.messaging.FirebaseMessaging
import com.google.firebase.messaging.RemoteMessage
import com.sun.net.httpserver.HttpHandler
import com.sun.net.httpserver.HttpServer
import java.net.InetSocketAddress
import java.util.concurrent.CountDownLatch
import java.util.concurrent.Semaphore
import java.util.concurrent.TimeUnit
import java.util.concurrent.TimeoutException
import java.util.concurrent.atomic.AtomicBoolean
import kotlin.concurrent.thread
import org.json.JSONArray
import org.json.JSONObject

private fun keys(json: JSONObject): List<String> =
  json.keys().asSequence().map { it.toString() }.toList()

private fun texts(json: JSONObject): Map<String, String> =
  keys(json).filter { json.get(it) is String }.associateWith { json.getString(it) }

private fun lists(json: JSONObject): Map<String, Array<String>> =
  keys(json).filter { json.get(it) is JSONArray }.associateWith { key ->
    val list = json.getJSONArray(key)
    Array(list.length()) { list.getString(it) }
  }

/** The `message` that FCM was sent, as the app receives it while it is open. */
private fun received(message: JSONObject): RemoteMessage {
  val drawn = message.optJSONObject("android")?.optJSONObject("notification")
  val data = message.optJSONObject("data") ?: JSONObject()
  return RemoteMessage(texts(data), drawn?.let { RemoteMessage.Notification(texts(it), lists(it)) })
}

private fun member(name: String): java.lang.reflect.Field =
  RidePulse::class.java.getDeclaredField(name).also { it.isAccessible = true }

/** A backend that prints each call. */
private fun backend(): String {
  val server = HttpServer.create(InetSocketAddress("127.0.0.1", 0), 0)
  server.createContext("/", HttpHandler { call ->
    val body = call.requestBody.readBytes().toString(Charsets.UTF_8)
    val json = if (body.isBlank()) JSONObject() else JSONObject(body)
    val fields = keys(json).sorted().filter { it != "installation_id" }.joinToString { "$it=${json.get(it)}" }
    val header = call.requestHeaders.getFirst("Authorization")
    println("${call.requestMethod} ${call.requestURI} $fields".trim() + if (header == TEST) "" else " with $header")
    call.sendResponseHeaders(204, -1)
    call.close()
  })
  server.start()
  return "http://127.0.0.1:${server.address.port}"
}

private const val TEST = "Bearer test"
private var hasNetwork = true

/** The app's `authorization`, which may throw and block. */
@Volatile private var authorization = CountDownLatch(0)
@Volatile private var isThrowing = false

private fun header(owner: String, text: String): String? {
  System.err.println("asked for the header of $owner")
  if (isThrowing) throw TimeoutException("no session")
  authorization.await()
  return text.takeIf { hasNetwork }
}

private fun authorize(how: String) {
  isThrowing = how == "throws"
  authorization.countDown()
  if (how == "waits") authorization = CountDownLatch(1)
}

/** The app's own drawing, which one line holds and another releases. */
private object Drawing {
  private val isHeld = AtomicBoolean()
  private val isThrowing = AtomicBoolean()
  private val entered = Semaphore(0)
  private val left = Semaphore(0)
  private var work: Thread? = null

  fun hold() = isHeld.set(true)

  fun fail() = isThrowing.set(true)

  fun run() {
    if (isThrowing.getAndSet(false)) throw IllegalStateException("no drawing")
    if (!isHeld.getAndSet(false)) return
    entered.release()
    left.acquire()
  }

  fun aside(act: () -> Unit) {
    work = thread { act() }
    entered.acquire()
  }

  fun release() {
    left.release()
    work?.join()
  }
}

private fun leave(phone: RidePulseMessaging) {
  val over = CountDownLatch(1)
  RidePulse.signOut(phone) { over.countDown() }
  println(if (over.await(7, TimeUnit.SECONDS)) "over" else "not over")
}

private fun obey(phone: RidePulseMessaging, words: List<String>, rest: String) {
  when (words[0]) {
    "sign-in" -> {
      FirebaseMessaging.current = words[2]
      RidePulse.signedIn(phone, words[1])
    }
    "token" -> phone.onNewToken(words[1])
    "message" -> phone.onMessageReceived(received(JSONObject(rest)))
    "lost" -> phone.onDeletedMessages()
    "swipe" -> {
      val goneAt = words.getOrNull(2)?.toLong() ?: Long.MAX_VALUE
      RideDismissal().onReceive(phone, Intent().setAction(words[1]).putExtra("gone_at", goneAt))
    }
    "open" -> for (callback in Application.callbacks) {
      callback.onActivityStarted(Activity())
      callback.onActivityStopped(Activity())
    }
    // As if Android had ended the process.
    "restart" -> for (name in listOf("memory", "client")) member(name).set(RidePulse, null)
    "network" -> hasNetwork = words[1] == "whole"
    "sign-out" -> RidePulse.signOut(phone)
    "leave" -> leave(phone)
    "authorization" -> authorize(words[1])
    "hold" -> Drawing.hold()
    "throw" -> Drawing.fail()
    "aside" -> Drawing.aside { obey(phone, words.drop(1), rest.substringAfter(" ")) }
    "release" -> Drawing.release()
  }
}

fun main(args: Array<String>) {
  RidePulse.backend = args.getOrNull(0) ?: backend()
  RidePulse.authorization = { header(it, args.getOrNull(1) ?: TEST) }
  RidePulse.onEvent = { System.err.println("${it.kind} ${it.what}: ${it.reason}") }
  RidePulse.refresh = {
    println("refresh ${it?.ride}")
    Drawing.run()
  }
  RidePulse.style = { _, _ -> Drawing.run() }
  val phone = RidePulseMessaging()
  RidePulse.start(Application())
  println("ready")
  for (line in generateSequence(::readLine)) {
    val work = thread { obey(phone, line.split(" "), line.substringAfter(" ")) }
    work.join(20_000)
    if (work.isAlive) println("blocked")
    val idle = CountDownLatch(1)
    (member("client").get(RidePulse) as RideClient?)?.flush(5000) { idle.countDown() } ?: idle.countDown()
    idle.await(10, TimeUnit.SECONDS)
    println("done")
  }
  System.exit(0)
}
