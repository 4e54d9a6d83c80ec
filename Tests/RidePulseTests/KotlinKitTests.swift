import Base
import Foundation
import TestSupport
import Testing

/// What the kit of `clients/kotlin` shows and reports, compiled by `kotlinc` and run on a JVM.
@Suite("Kotlin kit", .enabled(if: KotlinCompiler.isInstalled, KotlinCompiler.missing))
struct KotlinKitTests {
  private static func card(
    _ id: Int, _ event: String, at time: Int, _ more: String = "", run: Int = 1,
    card: String = "7.r1"
  ) -> String {
    """
    message {"data":{"rp_kind":"card","rp_id":"\(id)","rp_card":"\(card)","rp_event":"\(event)",\
    "rp_ts":"\(time)","rp_run":"\(run)","rp_ride":"r1","rp_look":"{\\"title\\":\\"t\(time)\\"}"\(more)}}
    """
  }

  private static func alert(_ id: String, _ more: String) -> String {
    #"message {"data":{"rp_kind":"alert","rp_id":"\#(id)","rp_ts":"9","rp_tag":"a"\#(more)}}"#
  }

  /// What happens, and the beginning of what is shown or called; nil if nothing is. In this order, on
  /// one phone.
  private static let steps: [(name: String, line: String, expected: String?)] = [
    ("nobody is signed in", card(1, "start", at: 1), nil),
    ("sign-in", "sign-in c1 t:Ab", "POST /v1/devices alerts=true, app=customer, app_version=1.2.3"),
    ("start", card(1, "start", at: 10), "notify 7.r1 1 "),
    ("repeated", card(1, "start", at: 10), nil),
    ("older", card(2, "update", at: 9), nil),
    ("the same time", card(3, "update", at: 10), nil),
    ("an older end", card(4, "end", at: 5), nil),
    ("update", card(5, "update", at: 11), "notify 7.r1 1 "),
    ("the process is new", "restart", nil),
    ("repeated to a new process", card(5, "update", at: 11), nil),
    ("end at once", card(6, "end", at: 13, #","rp_gone_at":"13""#), "cancel 7.r1 1"),
    ("update after the end", card(7, "update", at: 14), nil),
    ("start after the end", card(8, "start", at: 15), "notify 7.r1 1 "),
    ("time ran out", "swipe 7.r1 100", nil),
    ("update after that", card(9, "update", at: 16), "notify 7.r1 1 "),
    ("swipe", "swipe 7.r1", "DELETE /v1/live-activities/customer/7.r1"),
    ("swipe again", "swipe 7.r1", "broadcast finished"),
    ("start after a swipe", card(10, "start", at: 20), nil),
    ("update without a start", card(11, "update", at: 1, card: "7.r2"), "notify 7.r2 1 "),
    ("end with content", card(12, "end", at: 2, card: "7.r2"), "notify 7.r2 1 {autoCancel=true"),
    ("swipe of an ended card", "swipe 7.r2", "broadcast finished"),
    ("start after that", card(13, "start", at: 3, card: "7.r2"), "notify 7.r2 1 "),
    ("end of the first run", card(16, "end", at: 4, run: 1, card: "7.r2"), "notify 7.r2 1 "),
    ("late update of the first run", card(17, "update", at: 5, run: 1, card: "7.r2"), nil),
    ("the same end again", card(16, "end", at: 6, run: 1, card: "7.r2"), nil),
    ("its start was lost", card(18, "update", at: 8, run: 2, card: "7.r2"), "notify 7.r2 1 "),
    ("the end of that run", card(19, "end", at: 9, run: 2, card: "7.r2"), "notify 7.r2 1 "),
    ("the process is new again", "restart", nil),
    ("update after that end", card(20, "update", at: 10, run: 2, card: "7.r2"), nil),
    (
      "end of a run that was lost",
      card(21, "end", at: 11, #","rp_gone_at":"11""#, run: 3, card: "7.r2"), "cancel 7.r2 1"
    ),
    ("end of an unknown card", card(14, "end", at: 2, card: "7.r3"), nil),
    ("its late start", card(15, "start", at: 1, card: "7.r3"), nil),
    ("alert", alert("a1", #","rp_title":"T","rp_channel":"ride_now""#), "notify a 0 "),
    ("repeated alert", alert("a1", #","rp_title":"T""#), nil),
    ("expired alert", alert("a2", #","rp_until":"100""#), nil),
    (
      "alert by resource",
      alert("a3", #","rp_title_key":"DRIVER_HERE","rp_title_args":"[\"Mia\"]""#),
      "notify a 0 {autoCancel=true, channel=ride_news, contentTitle=Mia is here"
    ),
    (
      "unknown resource and channel", alert("a4", #","rp_title_key":"X","rp_channel":"y""#),
      "notify a 0 {autoCancel=true, channel=ride_news, smallIcon"
    ),
    (
      "an offer", alert("a7", #","rp_category":"RIDE_OFFER","rp_until":"99999999999""#),
      "notify a 0 {autoCancel=true, channel=ride_news, smallIcon=0, timeoutAfter=9"
    ),
    (
      "an offer with its time",
      alert("a9", #","rp_category":"RIDE_OFFER","rp_until":"99999999999","seconds":"30""#), nil
    ),
    (
      "no offer", alert("a8", #","rp_category":"CHAT","rp_until":"99999999999""#),
      "notify a 0 {autoCancel=true, channel=ride_news, smallIcon=0, when=9000}"
    ),
    (
      "drawn by Android while the app is open",
      """
      message {"android":{"notification":{"title":"T","channel_id":"ride_now","tag":"b"}},\
      "data":{"rp_kind":"alert","rp_id":"a5","rp_ts":"9"}}
      """,
      "notify b 0 {autoCancel=true, channel=ride_now, contentTitle=T"
    ),
    (
      "background",
      #"message {"data":{"rp_kind":"background","rp_id":"b1","rp_ts":"9","rp_ride":"r1"}}"#,
      "refresh r1"
    ),
    ("lost messages", "lost", "refresh null"),
    ("another sender", #"message {"data":{"from":"x","rp_id":"1"}}"#, nil),
    ("no time", #"message {"data":{"rp_kind":"alert","rp_id":"a6"}}"#, nil),
    (
      "no look",
      """
      message {"data":{"rp_kind":"card","rp_id":"c1","rp_card":"7.r4","rp_event":"start",\
      "rp_ts":"1","rp_look":"{["}}
      """,
      "notify 7.r4 1 {autoCancel=false, channel=ride_live, contentTitle=Rides"
    ),
    ("new token", "token e:Cd", "POST /v1/devices alerts=true"),
    ("sign-out", "sign-out", "cancel all"),
    ("after the sign-out", card(16, "start", at: 99, card: "7.r5"), nil),
    ("a token without a session", "token f:Ef", nil),
    ("another person", "sign-in c2 f:Ef", "POST /v1/devices"),
    ("the person's card, with the name of one swiped", card(1, "start", at: 1), "notify 7.r1 1 "),
  ]

  @Test func `Each message is shown once, in order, and only to who is signed in`() throws {
    try ScratchFolder.with { directory in
      let classes = try KotlinPhone.compile(in: directory)
      let printed = try KotlinPhone.run(Self.steps.map(\.line), classes, in: directory)
      try #require(printed.count == Self.steps.count)
      for (step, lines) in zip(Self.steps, printed) {
        let isRight = step.expected.map { lines.first?.hasPrefix($0) ?? false } ?? lines.isEmpty
        #expect(isRight, "\(step.name): \(lines)")
      }
      #expect(printed.joined().contains("DELETE /v1/devices/customer/e%3ACd"))
      #expect(printed.joined().contains("POST /v1/seen apns_id=a1"))
      #expect(printed.joined().contains("POST /v1/contact app=customer, owner_id=c1"))
      try checkThrowing(classes, in: directory)
      try checkLooks(classes, in: directory)
      try checkShuffled(classes, in: directory)
    }
  }

  /// What the app draws slowly, and what makes it void meanwhile.
  private static let slow: [(name: String, line: String, expected: [String])] = [
    ("sign-in", "sign-in c1 t:1", []),
    ("start", card(1, "start", at: 1), ["notify 7.r1 1 "]),
    ("hold", "hold", []),
    ("an update that the app draws slowly", "aside " + card(2, "update", at: 2), []),
    ("a newer one", card(3, "update", at: 3), ["notify 7.r1 1 "]),
    ("the older one is void", "release", []),
    ("hold", "hold", []),
    ("an update", "aside " + card(4, "update", at: 4), []),
    ("is shown when it is drawn", "release", ["notify 7.r1 1 "]),
    ("hold", "hold", []),
    ("another update", "aside " + card(5, "update", at: 5), []),
    ("the person swipes the card away", "swipe 7.r1", ["broadcast finished"]),
    ("it stays away", "release", []),
    ("hold", "hold", []),
    (
      "a ride that the app reads slowly",
      #"aside message {"data":{"rp_kind":"background","rp_id":"b1","rp_ts":"9","rp_ride":"r1"}}"#,
      ["refresh r1"]
    ),
    ("sign-out", "sign-out", ["cancel all"]),
    ("the ride was read", "release", []),
    ("sign-in again", "sign-in c1 t:1", []),
    ("hold", "hold", []),
    ("an alert", "aside " + alert("a1", #","rp_title":"T""#), []),
    ("another person", "sign-in c2 t:1", ["cancel all"]),
    ("the alert is void", "release", []),
  ]

  @Test func `The app draws without a lock, and what became void meanwhile is not shown`() throws {
    try ScratchFolder.with { directory in
      let classes = try KotlinPhone.compile(in: directory)
      let printed = try KotlinPhone.run(Self.slow.map(\.line), classes, in: directory)
      try #require(printed.count == Self.slow.count)
      for (step, lines) in zip(Self.slow, printed) {
        // Calls are those of the steps above.
        let shown = lines.filter { !$0.contains(" /v1/") }
        let isRight =
          shown.count == step.expected.count
          && zip(shown, step.expected).allSatisfy { $0.hasPrefix($1) }
        #expect(isRight, "\(step.name): \(lines)")
      }
    }
  }

  /// What the app's code throws is reported, and each message is shown without it.
  private func checkThrowing(_ classes: [String], in directory: String) throws {
    let lines = [
      "sign-in c1 t:1", "throw", Self.alert("a1", #","rp_title":"T""#), "throw",
      Self.card(1, "start", at: 1), "throw", "lost", "open",
    ]
    let phone = try KotlinPhone.live(lines, classes, files: directory + "/throwing")
    for shown in ["notify a 0 ", "notify 7.r1 1 "] {
      #expect(phone.output.contains(shown), "\(phone.output)")
    }
    let reports = phone.errors.split(separator: "\n").filter { $0.hasPrefix("THREW ") }
    #expect(reports.count { $0.hasPrefix("THREW style: ") } == 2, "\(phone.errors)")
    #expect(reports.count { $0.hasPrefix("THREW refresh: ") } == 1, "\(phone.errors)")
  }

  /// The parts of a card, on the present Android and on one before Live Updates.
  private func checkLooks(_ classes: [String], in directory: String) throws {
    let look =
      ##"{\"color\":\"#00ff00\",\"countdown\":1795421100,\"fraction\":0.5,\"step\":1,\"steps\":3}"##
    let line = Self.card(1, "start", at: 1).replacing(
      #"{\"title\":\"t1\"}""#, with: look + #"","rp_alert":"1","rp_title":"Here""#)
    for (sdk, bar) in [(36, "style=bar 150 -100 -100 -100 o100 o200"), (35, "progress=150/300")] {
      let printed = try KotlinPhone.run(
        ["sign-in c1 t", line], classes, in: directory, sdk: sdk, isMuted: sdk == 35)
      let shown = printed.last?.first ?? ""
      for part in [
        bar, "color=65280", "when=1795421100000", "chronometerCountDown=true", "silent=false",
        "contentTitle=Here", "requestPromotedOngoing=true",
      ] { #expect(shown.contains(part), "\(sdk): \(part) in \(shown)") }
      #expect(printed.first?.first?.hasPrefix("POST /v1/devices alerts=\(sdk == 36)") == true)
    }
  }

  /// Messages in any order, some twice: the last state is the newest one's, or nothing after an end.
  private func checkShuffled(_ classes: [String], in directory: String) throws {
    var numbers = SeededGenerator(seed: TestSeed.value(58))
    var lines = ["sign-in c1 t"]
    var expected: [String: String?] = [:]
    for ride in 1...200 {
      let (name, count) = ("7.s\(ride)", Int.random(in: 1...8, using: &numbers))
      let hasEnd = Bool.random(using: &numbers)
      var messages = (1...count).map { time in
        let event = time == 1 ? "start" : time == count && hasEnd ? "end" : "update"
        return Self.card(
          ride * 100 + time, event, at: time, event == "end" ? #","rp_gone_at":"1""# : "",
          card: name)
      }
      messages += messages.filter { _ in Bool.random(using: &numbers) }
      lines += messages.shuffled(using: &numbers)
      expected[name] = count > 1 && hasEnd ? .some(nil) : "contentTitle=t\(count),"
    }
    var shown: [String: String] = [:]
    for line in try KotlinPhone.run(lines, classes, in: directory).joined() {
      let words = line.split(separator: " ", maxSplits: 3).map(String.init)
      if words[0] == "notify" { shown[words[1]] = words[3] }
      if words[0] == "cancel" { shown[words[1]] = nil }
    }
    for (name, title) in expected {
      let isRight = title.map { shown[name]?.contains($0) ?? false } ?? (shown[name] == nil)
      #expect(isRight, "\(name): \(shown[name] ?? "nothing")")
    }
  }
}
