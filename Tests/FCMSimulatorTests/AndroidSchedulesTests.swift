import Base
import RuleFiles
import TestSupport
import Testing

@testable import FCMSimulator
@testable import RideCore

/// The project's own rules, as Android phones get them.
@Suite("Shipped rules on Android") struct AndroidSchedulesTests {
  private static let now = Timestamp(epochSeconds: 1_795_248_000)

  private static func ride(_ state: String) -> Ride {
    var ride = Ride(id: "ride-7", state: state)
    ride.timeZone = "Europe/Berlin"
    ride.pickupAt = Timestamp(epochSeconds: 1_795_249_000)
    ride.attributes = """
      {"driver_name": "Ada", "plate": "B-RP 1", "vehicle": "Blue Corsa", "fare": 12.4,
       "currency": "EUR", "pickup_address": "Gate B", "eta_epoch": 1795248300, "pin": "4711"}
      """
    return ride
  }

  @Test(arguments: ["en-GB", "de", "ar", nil] as [String?])
  func `every rule that phones receive is a message that FCM accepts`(locale: String?) throws {
    let rules = try RuleDirectory.load(Project.path("schedules")).get().ruleSet
    let registration = try #require(FCMRegistration("cX3fUGh9R0uVxK2mQ7wE1a"))
    let data =
      #"{"eta_epoch": 1795248300, "address": "12 Canal Street", "from": "Mia", "text": "Hi"}"#
    var kinds: Set<String> = []
    for rule in rules.rules where rule.what.isForPhones {
      if case .liveActivity = rule.what { continue }
      let message = CompiledMessage(rule, defaultLocale: rules.defaults.locale)
      #expect(message.refusal == nil, "\(rule.name)")
      let names =
        switch rule.when {
        case .on(let names, _): names
        default: ["driver_arrived"]
        }
      for name in names {
        let ride = Self.ride(name)
        let context = TemplateContext(
          ride: ride, attributes: JSONValue(json: ride.attributes.utf8),
          event: RideEvent(id: 1, name: name, at: Self.now, data: data))
        let id = PushID(of: rule.name)
        let body = try message.render(
          in: context, locale: locale, validUntil: Self.now + .seconds(60), ttl: .seconds(60)
        ).body(id: id, to: registration)
        let text = String(decoding: body, as: UTF8.self)
        #expect(try MessageRules.refusal(text, .all) == nil, "\(rule.name)")
        #expect(AndroidSize.count(body) < 1024, "\(rule.name)")
        let json = try #require(JSONValue(json: body)?["message"], "\(rule.name)")
        #expect(json.value(at: ["data", "ride_id"]) == .string("ride-7"), "\(rule.name)")
        #expect(json.value(at: ["data", "rp_id"]) == .string(id.description))
        #expect(json.value(at: ["android", "priority"]) != nil, "\(rule.name)")
        let title =
          json.value(at: ["android", "notification", "title"])
          ?? json.value(at: ["data", "rp_title"])
        #expect((title == nil) == (message.kind == .background), "\(rule.name)")
        kinds.insert("\(message.kind) \(message.isDrawnByApp)")
      }
    }
    #expect(kinds == ["alert false", "alert true", "background true"])
  }
}
