package com.example.rides

import java.io.File
import java.io.FileOutputStream
import java.io.IOException
import java.util.UUID
import java.util.concurrent.Callable
import java.util.concurrent.ExecutorService
import java.util.concurrent.Executors
import java.util.concurrent.ScheduledFuture
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicBoolean
import org.json.JSONObject

/**
 * Stores the queue of calls and sends it. It knows nothing of Android. Each call returns at once; what waits
 * is sent and repeated while the process runs, and again after its next start. One process has one client.
 */
class RideClient(
  private val folder: File,
  private val app: String,
  private val backend: String,
  /**
   * Returns the `Authorization` header of a person's session. If it returns null or throws, the call waits. It may
   * block: it is called on a thread that has nothing else to do.
   */
  private val authorization: (owner: String) -> String?,
  private val onEvent: (RideEvent) -> Unit
) {
  /** Reads and changes the queue, and runs nothing of the app, which may block. */
  private val turns: ExecutorService = Executors.newSingleThreadExecutor { daemon(it, "RidePulse") }
  private val senders: ExecutorService = Executors.newCachedThreadPool { daemon(it, "RidePulse call") }
  private val callbacks: ExecutorService = Executors.newSingleThreadExecutor { daemon(it, "RidePulse callback") }
  private val clock = Executors.newSingleThreadScheduledExecutor { daemon(it, "RidePulse clock") }
  private val file = File(folder, "queue.json")
  private val queue = load()
  private var timer: ScheduledFuture<*>? = null
  private val waiters = ArrayList<() -> Unit>()

  /** Stays while the app is installed. */
  val installation: String = installation()

  /** The person who is signed in, from the call on. */
  @Volatile
  var owner: String? = queue.session?.owner
    private set

  /** Begins a session, or goes on with that of the same person. */
  fun signIn(owner: String) {
    this.owner = owner
    turn { now -> queue.signIn(owner, app, now)?.let { ask(it) } }
  }

  /** Ends the session. The sign-out is stored, then its header, until the backend has it. */
  fun signOut() {
    owner = null
    turn { now -> queue.signOut(app, now)?.let { ask(it) } }
  }

  /** Reports the phone's token, with what the backend registers next to it. */
  fun phone(token: String, details: JSONObject) = turn { now ->
    queue.add(RideReport.PHONE, token, app, person(details.put("token", token)), now)
  }

  fun endCard(card: String) = turn { queue.add(RideReport.END_CARD, card, app, null, it) }

  fun seen(id: String) = turn {
    queue.add(RideReport.SEEN, id, app, JSONObject().put("apns_id", id), it)
  }

  /** Does nothing without a person: a phone comes to the foreground before a sign-in, too. */
  fun contact() = turn { now ->
    queue.session?.let { queue.add(RideReport.CONTACT, "", app, person(JSONObject()), now) }
  }

  /** Sends at once what waits because of a failure: the app came to the foreground, or has a network. */
  fun hurry() = turn { queue.hurry() }

  /** Calls [done] once nothing is on its way or due, or after a time: before Android ends the process. */
  fun flush(milliseconds: Long, done: () -> Unit) {
    val isOver = AtomicBoolean()
    val once = { if (!isOver.getAndSet(true)) callbacks.execute { guarded("done", done) } }
    clock.schedule(Runnable { once() }, milliseconds, TimeUnit.MILLISECONDS)
    turn { waiters.add(once) }
  }

  fun note(event: RideEvent) = turn { queue.note(event.kind, event.what, event.reason) }

  private fun person(body: JSONObject): JSONObject = body.put("app", app)
    .put("owner_id", queue.session?.owner).put("installation_id", installation)

  /** Asks for the header of a session that ended: its sign-out is stored without, should the process end. */
  private fun ask(ended: RideSession) {
    save()
    senders.execute {
      val header = guarded("authorization") { authorization(ended.owner) }
      turn { queue.farewell(ended.number, header) }
    }
  }

  /** Runs what the app gave, which may throw anything. */
  private fun <Value> guarded(what: String, run: () -> Value): Value? =
    try {
      run()
    } catch (problem: Exception) {
      note(RideEvent(RideEvent.Kind.THREW, what, "$problem"))
      null
    }

  private fun turn(act: (now: Long) -> Unit) = turns.execute {
    try {
      act(System.currentTimeMillis())
    } catch (problem: Exception) {
      queue.note(RideEvent.Kind.THREW, "queue", "$problem")
    }
    advance()
  }

  /** Stores the queue, then sends what is due. */
  private fun advance() {
    val due = ArrayList<RideCall>()
    timer?.cancel(false)
    var step = queue.next(System.currentTimeMillis())
    while (step is RideQueue.Step.Send) {
      due.add(step.call)
      step = queue.next(System.currentTimeMillis())
    }
    save()
    for (call in due) senders.execute { send(call) }
    if (step is RideQueue.Step.Wait) {
      val pause = maxOf(10, step.until - System.currentTimeMillis())
      timer = clock.schedule(Runnable { turn {} }, pause, TimeUnit.MILLISECONDS)
    }
    // An event that reports onEvent's own failure would fail, too.
    for (event in queue.takeEvents())
      callbacks.execute { try { onEvent(event) } catch (problem: Exception) {} }
    if (!queue.isBusy) while (waiters.isNotEmpty()) waiters.removeAt(0)()
  }

  private fun send(call: RideCall) {
    val result = try {
      val header = call.farewell ?: authorization(call.owner)
      when {
        header == null -> RideResult.Failed("no authorization")
        !turns.submit(Callable { leaves(call.key) }).get() -> RideResult.Failed("signed out")
        else -> call.request(backend, header)
      }
    } catch (problem: IOException) {
      RideResult.Failed("no answer: $problem")
    } catch (problem: Exception) {
      RideResult.Failed("$problem")
    }
    turn { queue.finished(call.key, result, it, Math.random()) }
  }

  /** Notes on disk what leaves: the server has nothing that the queue does not know of. */
  private fun leaves(key: String): Boolean {
    val known = queue.session
    return queue.leaves(key).also { if (queue.session != known) save() }
  }

  /** A file that this version can't use is moved aside; the next sign-in registers all again. */
  private fun load(): RideQueue {
    val process = UUID.randomUUID().toString()
    try {
      return RideQueue(if (file.exists()) JSONObject(file.readText()) else null, process)
    } catch (problem: Exception) {
      return moved(process, problem)
    }
  }

  private fun moved(process: String, problem: Exception): RideQueue = RideQueue(null, process).also {
    val broken = File(folder, "queue.broken.json")
    file.renameTo(broken)
    // Its text may have tokens.
    it.note(RideEvent.Kind.BROKEN_FILE, broken.path, problem.javaClass.simpleName)
  }

  private fun save(file: File = this.file, text: String = queue.json().toString()) = try {
    write(file, text)
  } catch (problem: IOException) {
    queue.note(RideEvent.Kind.NOT_SAVED, file.path, "$problem")
  }

  private fun installation(): String {
    val stored = File(folder, "installation")
    val known = try { stored.readText() } catch (problem: IOException) { "" }
    return if (known.isNotBlank()) known else UUID.randomUUID().toString().also { save(stored, it) }
  }

  companion object {
    /** Writes a file so that a crash leaves the old content or the new one. */
    fun write(file: File, text: String) {
      file.parentFile?.mkdirs()
      val new = File(file.path + ".new")
      FileOutputStream(new).use {
        it.write(text.toByteArray())
        it.fd.sync()
      }
      if (!new.renameTo(file)) throw IOException("rename to ${file.path}")
    }

    private fun daemon(work: Runnable, name: String) = Thread(work, name).apply { isDaemon = true }
  }
}
