import Testing

@testable import Base
@testable import RideCore

/// `android` next to a live-activity: what `rp_look` has of it.
@Suite struct AndroidLookTests {
  private func stage(_ change: (inout AndroidLook) -> Void) -> CardStage {
    var stage = CardStage.android()
    var look = AndroidLook()
    look.title = LocalizedText([
      ("en", Sample.text("Mia is {{ride.state}}")), ("de", Sample.text("Mia ist {{ride.state}}")),
    ])
    look.text = LocalizedText(Sample.text("{{ride.attributes.plate}}"))
    look.countdown = Sample.text("{{ride.attributes.eta_epoch}}")
    look.steps = ["driver_assigned", "driver_en_route"].map { AndroidLook.Step(state: $0) }
    change(&look)
    stage.life.android = look
    stage.ride.attributes = #"{"plate": "B-RP 1", "eta_epoch": 1800000900}"#
    return stage
  }

  private func look(
    _ attributes: String? = nil, locale: String? = nil,
    _ change: (inout AndroidLook) -> Void = { _ in }
  ) -> String? {
    var stage = stage(change)
    if let attributes { stage.ride.attributes = attributes }
    stage.phones[0].locale = locale
    stage.state("driver_assigned")
    stage.run()
    return stage.messages.first?.data("rp_look")
  }

  @Test func `texts, the countdown and the step are there`() {
    #expect(
      look()
        == #"{"countdown":1800000900,"step":0,"steps":2,"text":"B-RP 1","title":"Mia is driver_assigned"}"#
    )
    #expect(look(locale: "de")?.contains("Mia ist") == true)
  }

  @Test func `what has no value is left out, and nothing is required`() {
    #expect(look("{}") == #"{"step":0,"steps":2,"title":"Mia is driver_assigned"}"#)
    #expect(look("{}") { $0 = AndroidLook() } == "{}")
  }

  @Test(arguments: [("0.25", "0.25"), ("2", "1"), ("-1", "0")])
  func `progress is a share of the step`(value: String, sent: String) {
    let look = look("{\"done\": \(value)}") { look in
      look = AndroidLook()
      look.progress = Sample.text("{{ride.attributes.done}}")
    }
    #expect(look.flatMap { JSONValue(json: $0.utf8)?.value(at: ["fraction"])?.text } == sent)
  }

  @Test func `a broken value costs its own key, with a warning in the ledger`() throws {
    var stage = stage { _ in }
    stage.ride.attributes = #"{"plate": "B-RP 1", "eta_epoch": [1]}"#
    stage.state("driver_assigned")
    stage.run()
    let look = try #require(stage.messages.first?.look)
    #expect(look.value(at: ["countdown"]) == nil && look.value(at: ["text"])?.text == "B-RP 1")
    let reason = try #require(stage.ledger.values.first?.reason)
    #expect(reason.code == .engine(.cardFieldDropped) && reason.text.contains("android.countdown"))
  }

  @Test func `a change of the look alone is sent`() {
    var stage = stage { _ in }
    stage.state("driver_assigned")
    stage.run(for: .seconds(20))
    stage.ride.attributes = #"{"plate": "B-RP 2", "eta_epoch": 1800000900}"#
    stage.emit("ride_updated")
    stage.run(for: .seconds(20))
    #expect(stage.messageEvents == ["start", "update"])
    #expect(stage.messages[0].data("rp_state") != stage.messages[1].data("rp_look"))
    #expect(stage.messages[1].look?.value(at: ["text"])?.text == "B-RP 2")
  }

  @Test func `steps move with the ride's state`() {
    var stage = stage { look in
      look.steps[0].label = LocalizedText(Sample.text("Assigned"))
    }
    stage.state("driver_assigned")
    stage.run(for: .seconds(20))
    stage.state("driver_en_route")
    stage.run(for: .seconds(20))
    stage.state("ride_started")
    stage.run(for: .seconds(20))
    #expect(stage.messages.map { $0.look?.value(at: ["step"])?.text } == ["0", "1", nil])
    #expect(
      stage.messages[0].look?.value(at: ["labels"])
        == .array([.string("Assigned"), .string("")]))
  }
}
