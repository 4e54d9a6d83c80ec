import Foundation
import LocalStack
import PostgresStore
import TestSupport
import Testing

/// The kit of `clients/kotlin` with `ridepulse serve` as its backend.
@Suite(
  "Kotlin app", .timeLimit(.minutes(60)),
  .enabled(if: KotlinCompiler.isInstalled, KotlinCompiler.missing))
struct KotlinAppTests {
  private static let phones = """
    select string_agg(owner_id || ' ' || platform || ' ' || token || ' ' || locale, ',')
    from ridepulse.devices where disabled_at is null
    """

  @Test func `R96: the kit registers, rotates and withdraws a phone, and reports a swipe`()
    async throws
  {
    try await Stage.run { stage in
      let classes = try KotlinPhone.compile(in: stage.directory)
      let (server, api) = try await APIClient.serve(stage.environment)
      defer { server.stop() }
      let words = KotlinCompiler.command(
        KotlinPhone.main, [api.url, "Bearer \(api.token ?? "")"], classes: classes,
        settings: ["files=\(stage.directory)/phone", "user.language=de", "user.country=AT"])
      let phone = try LineProcess("/usr/bin/env", words)
      defer { phone.stop() }
      // A token, which moves to an installation ID: upper case counts in both.
      let token = "dQwErTyUiOpAsDfGhJkLz1:APA91bXyZ"
      try phone.write("sign-in c1 \(token)")
      try await stage.until(Self.phones, is: "c1 android \(token) de-AT")
      try phone.write("token cQwErTyUiOpAsDfGhJkLz2")
      try await stage.until(Self.phones, is: "c1 android cQwErTyUiOpAsDfGhJkLz2 de-AT")

      try await stage.sql(
        "insert into ridepulse.rides (id, state, customer_id) values ('r1', 'requested', 'c1')")
      let id = try await stage.rows(
        "select id::text from ridepulse.devices where disabled_at is null")
      let card = "\(id.first?.first.flatMap { $0 } ?? "").r1"
      let data =
        #""rp_id":"1","rp_kind":"card","rp_event":"start","rp_ts":"1","rp_card":"\#(card)""#
      try phone.write(#"message {"data":{\#(data)}}"#)
      try phone.write("swipe \(card)")
      try await stage.until(
        "select string_agg(activity_id || ' ' || ended_reason, ',') from ridepulse.live_activities",
        is: "\(card) dismissed")
      #expect(phone.printed.contains { $0.hasPrefix("notify \(card) 1 ") })

      try phone.write("sign-out")
      try await stage.until(
        """
        select string_agg(distinct disabled_reason, ',') from ridepulse.devices
        where token like 'c%'
        """, is: "signed_out")
      #expect(phone.printed.contains("cancel all"))
    }
  }
}
