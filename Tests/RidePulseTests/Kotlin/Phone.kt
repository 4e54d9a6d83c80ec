// An Android phone with the kit of clients/kotlin, which KotlinKitTests compiles with stubs of Android's classes.
//
// usage: PhoneKt [BACKEND AUTHORIZATION]; reads lines:
//   sign-in OWNER TOKEN | token TOKEN | message JSON | lost | swipe CARD [GONE-AT] | open | restart | sign-out
//   network lost, whole
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
import java.util.concurrent.TimeUnit
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
  }
}

fun main(args: Array<String>) {
  RidePulse.backend = args.getOrNull(0) ?: backend()
  RidePulse.authorization = { (args.getOrNull(1) ?: TEST).takeIf { hasNetwork } }
  RidePulse.onEvent = { System.err.println("${it.kind} ${it.what}: ${it.reason}") }
  RidePulse.refresh = { println("refresh ${it?.ride}") }
  val phone = RidePulseMessaging()
  RidePulse.start(Application())
  println("ready")
  for (line in generateSequence(::readLine)) {
    obey(phone, line.split(" "), line.substringAfter(" "))
    val idle = CountDownLatch(1)
    (member("client").get(RidePulse) as RideClient?)?.flush(5000) { idle.countDown() } ?: idle.countDown()
    idle.await(10, TimeUnit.SECONDS)
    println("done")
  }
  System.exit(0)
}
