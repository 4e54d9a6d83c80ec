// An Android phone with the kit of clients/kotlin, which KotlinKitTests compiles with stubs of Android's classes.
//
// usage: PhoneKt [BACKEND AUTHORIZATION]; reads lines:
//   sign-in OWNER TOKEN | token TOKEN | message JSON | lost | swipe CARD [GONE-AT] | restart | sign-out
// prints `ready`, what is shown and, without a backend, what is called, and `done` after each line.

package com.example.rides

import android.content.Intent
import com.google.firebase.messaging.FirebaseMessaging
import com.google.firebase.messaging.RemoteMessage
import com.sun.net.httpserver.HttpHandler
import com.sun.net.httpserver.HttpServer
import java.net.InetSocketAddress
import java.util.concurrent.ExecutorService
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
    println("${call.requestMethod} ${call.requestURI} $fields".trim())
    call.sendResponseHeaders(204, -1)
    call.close()
  })
  server.start()
  return "http://127.0.0.1:${server.address.port}"
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
    // As if Android had ended the process.
    "restart" -> member("memory").set(RidePulse, null)
    "sign-out" -> RidePulse.signOut(phone)
  }
}

fun main(args: Array<String>) {
  RidePulse.backend = args.getOrNull(0) ?: backend()
  RidePulse.authorization = { args.getOrNull(1) }
  RidePulse.refresh = { println("refresh ${it?.ride}") }
  val phone = RidePulseMessaging()
  println("ready")
  for (line in generateSequence(::readLine)) {
    obey(phone, line.split(" "), line.substringAfter(" "))
    (member("calls").get(RidePulse) as ExecutorService).submit {}.get()
    println("done")
  }
  System.exit(0)
}
