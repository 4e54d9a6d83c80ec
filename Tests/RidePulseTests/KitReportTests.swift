import Foundation
import LocalStack
import TestSupport
import Testing

/// What RidePulseKit reports besides tokens that rotate, with Apple's names as stubs, against a real service.
@Suite(.timeLimit(.minutes(60))) struct KitReportTests {
  private func run(_ test: (Stage, LineProcess) async throws -> Void) async throws {
    try await Stage.run { stage in
      let binary = try KitPhone.compile(in: stage.directory)
      let (server, api) = try await APIClient.serve(stage.environment)
      defer { server.stop() }
      let phone = try LineProcess(binary, [api.url, api.token ?? "", "\(stage.directory)/queue"])
      defer { phone.stop() }
      try await test(stage, phone)
    }
  }

  private func prints(_ line: String, _ phone: LineProcess) async throws {
    try await wait(until: "the phone prints \(line)") { phone.printed.contains(line) }
  }

  @Test func `R95: permission is asked for by a call of its own, and its answer is registered`()
    async throws
  {
    try await run { stage, phone in
      let alerts = "select coalesce(max(alerts::text), '') from ridepulse.devices"
      try phone.write("alerts unknown")
      try phone.write("sign-in c1")
      try phone.write("device-token c1")
      try await stage.until(alerts, is: "false")
      try phone.write("has-asked")
      try await prints("asked false", phone)
      try phone.write("ask")
      try await prints("allowed true", phone)
      try await stage.until(alerts, is: "true")
      // In Settings.
      try phone.write("alerts off")
      try phone.write("active")
      try await stage.until(alerts, is: "false")
    }
  }

  @Test func `R95: contacts at the foreground and on background pushes, and receipts`() async throws
  {
    try await run { stage, phone in
      try phone.write("sign-in c1")
      try phone.write("device-token c1")
      try phone.write("active")
      let contacts = "from ridepulse.installation_contacts where owner_id = 'c1'"
      try await stage.until("select count(*) \(contacts)", is: "1")
      let first = try await stage.value("select contacted_at \(contacts)") ?? ""
      try phone.write("background-push")
      try await stage.until(
        "select (contacted_at > '\(first)'::timestamptz)::text \(contacts)", is: "true")
      let receipts = "select count(*) from ridepulse.receipts"
      try phone.write("displays 6f1c1b7e-0000-4000-8000-000000000001")
      try await stage.until(receipts, is: "1")
      try phone.write("extension 6f1c1b7e-0000-4000-8000-000000000002")
      try await prints("shown rewritten", phone)
      try await stage.until(receipts, is: "2")
      // Without a network the alert is displayed all the same, and the app reports it later.
      try phone.write("network lost")
      try phone.write("displays 6f1c1b7e-0000-4000-8000-000000000003")
      try phone.write("network whole")
      try phone.write("active")
      try await stage.until(receipts, is: "3")
    }
  }

  @Test func `R95: frequent updates, scheduled cards, widgets and categories`() async throws {
    try await run { stage, phone in
      try phone.write("sign-in c1")
      try phone.write("device-token c1")
      try phone.write("book r1")
      try phone.write("card-token activity-1 ca")
      let frequent = "select coalesce(max(frequent::text), '') from ridepulse.live_activities"
      try await stage.until(frequent, is: "true")
      try phone.write("frequent off")
      try await stage.until(frequent, is: "false")
      try phone.write("schedule r2")
      try await prints("scheduled activity-2 pending stale true", phone)
      try phone.write("card-token activity-2 cb")
      try await stage.until(
        "select coalesce(max(right(token, 4)), '') from ridepulse.live_activities where ride_id = 'r2'",
        is: "cbcb")
      try phone.write("widget-token ee")
      try phone.write("active")
      try await stage.until(
        "select coalesce(max(right(token, 4)), '') from ridepulse.devices where app = 'driver'",
        is: "eeee")
      try phone.write("categories")
      try await prints(#"categories ["A: [\"Y\"]", "B: []"]"#, phone)
    }
  }
}
