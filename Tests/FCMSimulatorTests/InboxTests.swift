import Foundation
import TestSupport
import Testing

@testable import FCMSimulator

/// The inbox of `fcm-simulator`; that of `apns-simulator` is the same mechanism.
@Suite struct FCMInboxTests {
  private func outcomes(_ records: [[String: Any]]) -> [String] {
    records.map { "\($0["sequence"] ?? "") \($0["type"] ?? "") \($0["outcome"] ?? "")" }
  }

  private func notification(_ title: String, ttl: String = "300s") -> String {
    RunningFCM.message(
      #""data":{"event":"x"},"notification":{"title":"\#(title)"}"#, ttl: ttl)
  }

  @Test func `a message has its outcome, and the phone what it shows`() async throws {
    let simulator = try RunningFCM(["--inbox", "127.0.0.1:0"])
    let inbox = try await InboxClient(simulator.process, "fcm-simulator")
    let token = try simulator.accessToken()
    #expect(try simulator.send(notification("One"), as: token).status == 200)
    #expect(try simulator.send(RunningFCM.message(ttl: "x"), as: token).status == 400)
    #expect(try inbox.post("/phones/\(RunningFCM.fid)/offline").status == 200)
    #expect(try simulator.send(notification("Now", ttl: "0s"), as: token).status == 200)
    #expect(try simulator.send(notification("Two"), as: token).status == 200)
    let records = try inbox.messages("?screen=true")
    #expect(
      outcomes(records) == [
        "1 notification delivered", "2 data refused", "3 notification discarded",
        "4 notification waiting",
      ])
    #expect(records[1]["code"] as? String == "INVALID_ARGUMENT")
    let screen = try #require(records[3]["screen"] as? [String: Any])
    #expect(screen["online"] as? Bool == false && screen["platform"] as? String == "android")
    #expect((screen["waiting"] as? [[String: Any]])?.count == 1)
    #expect(try inbox.post("/phones/\(RunningFCM.fid)/awake").status == 200)
    #expect(try inbox.messages("?after=3").first?["outcome"] as? String == "delivered")
  }

  @Test func `a phone of the registrations' file begins in its state, and a hundred are wiped`()
    async throws
  {
    let folder = URL(fileURLWithPath: try ScratchFolder.create())
    defer { ScratchFolder.remove(folder.path) }
    try Data(#"{"\#(RunningFCM.fid)":{"state":"doze"}}"#.utf8)
      .write(to: folder.appendingPathComponent("registrations.json"))
    let simulator = RunningFCM(
      try SimulatorProcess("fcm-simulator", ["--inbox", "127.0.0.1:0"], directory: folder))
    let inbox = try await InboxClient(simulator.process, "fcm-simulator")
    #expect(try inbox.call("/inbox.json").body.contains(#""state":"doze""#))
    let token = try simulator.accessToken()
    #expect(try inbox.post("/phones/\(RunningFCM.fid)/offline").status == 200)
    for _ in 0...100 {
      #expect(try simulator.send(RunningFCM.message(), as: token).status == 200)
    }
    #expect(Set(try inbox.messages().map { $0["outcome"] as? String }) == ["deleted_messages"])
    #expect(try inbox.post("/phones/\(RunningFCM.fid)/awake").status == 200)
    let screen = try inbox.messages("?screen=true&after=100").first?["screen"] as? [String: Any]
    #expect(screen?["deletions"] as? Int == 1 && screen?["online"] as? Bool == true)
  }
}
