import Foundation
import Testing

@testable import Base
@testable import RideCore
@testable import RuleFiles

/// The project's own rule files.
@Suite struct ScheduleTests {
  static let directory = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appending(path: "schedules").path()

  private let ruleSet: RuleSet
  private let loaded: LoadedRules

  init() throws {
    loaded = try RuleDirectory.load(Self.directory).get()
    ruleSet = loaded.ruleSet
  }

  @Test func whichRulesThereAre() {
    let rules = ruleSet.rules
    #expect(
      rules.filter { $0.app == .customer }.map(\.name) == [
        "customer-booking-confirmed", "customer-pickup-tomorrow", "customer-pickup-reminder",
        "customer-driver-assigned", "customer-driver-booked", "customer-driver-en-route",
        "customer-free-cancellation", "customer-eta-changed", "customer-eta-jumped",
        "customer-driver-nearby", "customer-driver-arrived", "customer-driver-arrived-pin",
        "customer-waiting-fee", "customer-no-show-warning", "customer-no-driver-yet",
        "customer-driver-late", "customer-driver-reassigned", "customer-no-driver-found",
        "customer-stop-reached", "customer-safety-check", "customer-chat",
        "customer-ride-completed", "customer-rating", "customer-cancelled-by-driver",
        "customer-no-show", "customer-payment-failed", "customer-refund", "customer-heartbeat",
        "customer-ride-card",
      ])
    #expect(
      rules.filter { $0.app == .driver }.map(\.name) == [
        "driver-ride-offer", "driver-offer-unseen", "driver-offer-revoked", "driver-ride-assigned",
        "driver-next-ride-queued", "driver-pickup-changed", "driver-destination-changed",
        "driver-ride-cancelled", "driver-ride-reassigned", "driver-waiting-paid",
        "driver-still-waiting", "driver-stop-reached", "driver-safety-check", "driver-chat",
        "driver-ride-completed", "driver-heartbeat", "driver-confirm", "driver-pickup-reminder",
        "driver-morning-brief", "driver-lost", "driver-open-app",
      ])
    #expect(rules.count == 50)
  }

  @Test func whichStatesThereAre() {
    #expect(
      ruleSet.activeStates == [
        "scheduled", "requested", "driver_assigned", "driver_en_route", "driver_arrived",
        "ride_started",
      ])
    #expect(
      ruleSet.finalStates == [
        "ride_completed", "cancelled_by_customer", "cancelled_by_driver", "cancelled_by_system",
        "no_show",
      ])
  }

  @Test func checkWarnsOfNothing() {
    let lints = loaded.lints(hasFCM: true)
    #expect(lints.map { "\($0.rule ?? ""): \($0.text)" } == [])
  }

  @Test func everyDeclaredEventHasARule() {
    let urgent = ruleSet.cards.flatMap(\.life.urgent)
    for event in ruleSet.events where !urgent.contains(event) {
      #expect(!ruleSet.rules(on: event).isEmpty, "\(event)")
    }
  }

  @Test(arguments: ["en-GB", "de", "fr", "es", "pt-BR", "pt-PT", "ar", nil], ["full", "bare"])
  func everyRuleCanBeSent(locale: String?, ride kind: String) throws {
    for rule in ruleSet.rules where rule.what.emittedEvent == nil {
      let compiled = CompiledRule(rule)
      guard case .on(let names, _) = rule.when else { continue }
      for name in names {
        let scope = scope(of: name, isFull: kind == "full")
        let json = try compiled.payload.render(in: scope, locale: locale)
        let payload = try #require(JSONValue(json: json), "\(rule.name)")
        #expect(payload.value(at: ["ride_id"]) == .string("ride-7"))
        #expect(payload.value(at: ["aps", "alert", "title"]) != nil)
        #expect(json.count < 1024)
        guard let collapse = rule.collapse else { continue }
        #expect(CollapseID(try scope.text(of: collapse)) != nil)
      }
    }
  }

  /// Returns the context of a typical ride, or of one with only the values that the rules require.
  private func scope(of event: String, isFull: Bool) -> TemplateContext {
    var ride = Ride(id: "ride-7", state: event)
    ride.pickupAt = Timestamp(epochSeconds: 1_795_249_000)
    // What a rule requires is there if the rule fires: its condition asks for it.
    ride.attributes = #"{"eta_epoch": 1795248300, "pin": "4711"}"#
    if isFull {
      ride.timeZone = "Europe/Berlin"
      ride.attributes = """
        {"driver_name": "Ada", "plate": "B-RP 1", "vehicle": "Blue Corsa", "fare": 12.4, "currency": "EUR",
         "pickup_address": "Gate B", "eta_epoch": 1795248300, "pin": "4711"}
        """
    }
    let data = """
      {"eta_epoch": 1795248300, "address": "12 Canal Street", "from": "Mia", "text": "Hello"}
      """
    return TemplateContext(
      ride: ride, attributes: JSONValue(json: ride.attributes.utf8),
      event: RideEvent(id: 1, name: event, at: Timestamp(epochSeconds: 1_795_248_000), data: data))
  }

  @Test(arguments: ["full", "bare"])
  func theCardCanBeShown(ride kind: String) throws {
    let card = try #require(ruleSet.cards.first)
    for state in ruleSet.activeStates.union(ruleSet.finalStates) {
      let scope = scope(of: state, isFull: kind == "full")
      let rendered = RenderedCard(card, in: scope)
      let shown = JSONValue(json: rendered.state ?? [])
      #expect(shown?.value(at: ["status"]) == .string(state), "\(rendered.problem?.text ?? "")")
      #expect(shown?.value(at: ["etaEpoch"]) == .integer(1_795_248_300))
      #expect(shown?.value(at: ["plate"]) == .string(kind == "full" ? "B-RP 1" : ""))
      for (event, alert) in card.compiled.alerts {
        #expect(throws: Never.self, "\(event)") { try alert.render(in: scope, locale: "de") }
      }
    }
  }

  @Test func theArrivalInTwoLanguages() throws {
    let rule = try #require(ruleSet.rule(named: "customer-driver-arrived"))
    let german = try rule.payload.render(
      in: scope(of: "driver_arrived", isFull: true), locale: "de")
    let payload = try #require(JSONValue(json: german))
    #expect(
      payload.value(at: ["aps", "alert", "body"]) == .string("Blue Corsa, B-RP 1"))
    let bare = try rule.payload.render(in: scope(of: "driver_arrived", isFull: false), locale: nil)
    #expect(
      JSONValue(json: bare)?.value(at: ["aps", "alert", "body"])
        == .string("Details in the app"))
  }

  @Test func anOfferIsNeverStored() throws {
    let offer = try #require(ruleSet.rule(named: "driver-ride-offer"))
    #expect(offer.expires == .neverStore)
    #expect(offer.priority == .immediate)
    let revoked = try #require(ruleSet.rule(named: "driver-offer-revoked"))
    #expect(offer.collapse == revoked.collapse)
  }
}
