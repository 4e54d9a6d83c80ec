import Base
import Foundation
import RuleFiles
import Testing
import TestSupport

@testable import RideCore

/// Whatever a phone names as its locale and a ride as its zone, texts are written, and the process
/// lives.
@Suite struct `Fuzzing of formats` {
  @Test func `Every locale, extension, zone, number and time has a text`() throws {
    let locales = try Self.locales()
    let filters = try Self.filters.map { try TextTemplate("{{event.data.n | \($0)}}") }
    Fuzz.run("formats", cases: 3000) { chance throws(Fuzz.Fault) in
      let locale = Self.locale(of: locales, &chance)
      let seconds =
        chance.percent(70)
        ? chance.number(0...4_102_444_800) : chance.number(CivilTime.seconds)
      let number = chance.pick(
        "\(seconds)", "\(chance.number(Int64.min ... .max))", "\(chance.share())", "-0.0",
        "1e\(chance.number(-120...120))", "\"\(chance.number(0...99)).50\"")
      var ride = Ride(id: "r1", state: "driver_arrived")
      ride.timeZone = Self.zone(&chance)
      let context = TemplateContext(
        ride: ride, attributes: .object([:]),
        event: RideEvent(
          id: 1, name: "e", at: Timestamp(epochSeconds: seconds), data: #"{"n":\#(number)}"#),
        now: Timestamp(epochSeconds: 1_800_000_000))
      for template in filters {
        let payload = CompiledPayload(.visible(Self.texts(template)))
        do {
          let json = try payload.render(in: context, locale: locale)
          try require(json.count > 2, "nothing for \(locale), \(ride.timeZone), \(number)")
        } catch let fault as Fuzz.Fault {
          throw fault
        } catch RenderingError.notATime, RenderingError.notANumber {
          // A number that is no time, or beyond 38 digits.
        } catch {
          throw Fuzz.Fault(text: "\(error) for \(locale), \(ride.timeZone), \(number)")
        }
      }
    }
  }

  @Test func `The shipped rules are sent to any phone, in any zone`() throws {
    let rules = try RuleDirectory.load(Project.path("schedules")).get().ruleSet
    let configuration = EngineConfiguration(
      rules: rules, bundleIDs: [.customer: "com.example.customer", .driver: "com.example.driver"])
    let locales = try Self.locales()
    let states = rules.activeStates.sorted()
    var texts = 0
    Fuzz.run("shipped rules", cases: 1500) { chance throws(Fuzz.Fault) in
      let now = Timestamp(epochSeconds: 1_800_000_000)
      let state = chance.pick(of: states, else: "")
      var ride = Ride(id: "r1", state: state)
      (ride.customerID, ride.driverID) = ("c", "d")
      ride.pickupAt = now + .seconds(600)
      ride.timeZone = Self.zone(&chance)
      ride.attributes = """
        {"eta_epoch": 1800000300, "pickup_address": "A 1", "plate": "B 1", "driver_name": "Ana",
         "fare": 12.5, "currency": "EUR"}
        """
      var view = RideView(rideID: "r1", ride: ride)
      view.events = [RideEvent(id: 1, name: state, at: now)]
      view.phones = [("c", App.customer), ("d", .driver)].enumerated().map { index, person in
        Phone(
          id: Int64(index), app: person.1, ownerID: OwnerID(person.0), token: "00aabb\(index)0",
          environment: .production, locale: Self.locale(of: locales, &chance))
      }
      let decision = decide(view, by: configuration, now: now)
      texts += decision.pushes.count
      try require(
        // A clock rule by the ride's zone has no slots in an unknown one.
        decision.ended.allSatisfy {
          $0.reason?.code != .engine(.unknownTimeZone) || $0.event.name == "cron"
        },
        "an unknown zone suppresses a push: \(ride.timeZone)")
    }
    #expect(texts > 0)
  }

  private static let filters = [
    "time", "date", "weekday", "relative", "currency: 'EUR'", "currency: 'JPY'",
    "plural: 'one=# x|few=# y|other=# z'",
  ]

  private static func texts(_ text: TextTemplate) -> LocalizedText {
    LocalizedText([("en", text), ("ar", text), ("zh-Hant", text), ("hi", text)])
      ?? LocalizedText(text)
  }

  /// The locales of CLDR.
  private static func locales() throws -> [String] {
    let path = Project.path("Tests/RideCoreTests/Golden/cldr-fallback.tsv")
    return try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
      .compactMap { $0.split(separator: "\t").first.map(String.init) }
  }

  private static func locale(of locales: [String], _ chance: inout Chance) -> String {
    let locale = chance.pick(of: locales, else: "en")
    let digits = chance.pick(
      "latn", "arab", "arabext", "deva", "beng", "thai", "hanidec", "native", "traditio", "finance",
      "roman", "hebr", "xxxx", "", "fullwide", "adlm", "mymr", "tibt")
    let calendar = chance.pick(
      "buddhist", "chinese", "hebrew", "islamic-umalqura", "japanese", "gregory", "never", "roc")
    switch chance.number(0...9) {
    case 0, 1: return locale
    case 2, 3, 4: return "\(locale)-u-nu-\(digits)"
    case 5: return "\(locale)@numbers=\(digits);calendar=\(calendar)"
    case 6: return "\(locale)-u-ca-\(calendar)-nu-\(digits)"
    case 7: return "\(locale)-u-hc-\(chance.pick("h11", "h12", "h23", "h24", "h99"))-nu-\(digits)"
    case 8:
      return "\(locale)-\(chance.pick("t-de", "x-u-nu-arab", "u", "u-rg-gbzzzz", "u-nu", "1996"))"
    default:
      let bytes = Mutation(["-u-", "nu", "@", "-x-", ";"]).mutate(
        Array("\(locale)-u-nu-\(digits)".utf8), &chance)
      return String(decoding: bytes, as: UTF8.self)
    }
  }

  private static func zone(_ chance: inout Chance) -> String {
    let odd = [
      "ACT", "NST", "BST", "PST", "GMT+18", "GMT-18", "GMT+05:30", "UTC+3", "US/Pacific-New", "",
      "Etc/GMT+12", "EST5EDT", "CET", "Etc/Unknown", "right/Europe/Berlin", "posix/UTC",
      "europe/berlin", "Europe/Berlin\u{0}", "../UTC", "SystemV/AST4", "Factory", "localtime",
    ]
    if chance.percent(40) { return chance.pick(of: odd, else: "") }
    return chance.pick(of: FoundationZones.names, else: "UTC")
  }
}
