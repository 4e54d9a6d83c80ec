import Testing

@testable import Base
@testable import RideCore
@testable import Timeline

/// The same ride at night, and without cards.
@Suite struct ScenarioVariantTests {
  /// (start, zone, the zone in which it is one o'clock; nil if it is night by itself)
  private static let nights: [(String, String, String?)] = [
    ("2026-11-21T08:00:00Z", "Europe/Berlin", "Etc/GMT+7"),
    ("2026-11-21T08:30:00Z", "UTC", "Etc/GMT+7"),
    ("2026-11-21T01:00:00Z", "Asia/Tokyo", "Etc/GMT"),
    ("2026-11-21T00:10:00Z", "Asia/Tokyo", "Etc/GMT-1"),
    ("2026-11-21T18:00:00Z", "Europe/Berlin", "Etc/GMT-7"),
    ("2026-11-21T21:00:00Z", "Europe/Berlin", nil),
    ("2026-11-21T03:00:00Z", "Europe/Berlin", nil),
  ]

  @Test(arguments: nights.indices) func `A ride at night begins in the hour after one o'clock`(
    index: Int
  ) throws {
    let (start, zone, night) = Self.nights[index]
    let instant = try #require(CivilTime.instant(iso: start))
    var ride = Ride(id: "r1", state: nil)
    ride.timeZone = zone
    let update = RideUpdate(id: "r1", state: "requested", timeZone: zone)
    var scenario = Scenario(start: instant, view: RideView(rideID: "r1", ride: ride, phones: []))
    scenario.steps = [ScenarioStep(at: instant, [.ride(update)])]
    let moved = scenario.atNight()
    #expect(moved?.zoneName == night)
    guard let night else { return }
    let local = LocalTime(instant, in: try #require(ZoneTimes(identifier: night)))
    #expect(local.minute / 60 == 1)
    #expect(moved?.start == instant)
    #expect(moved?.steps.first?.changes == [.ride(RideUpdate(id: "r1", state: "requested"))])
  }

  @Test func `Without cards, nothing registers one any more`() throws {
    let start = Timestamp(epochSeconds: 1_795_248_000)
    let phone = Registration(app: App(rawValue: "customer"), ownerID: "c1", token: "t")
    var scenario = Scenario(
      start: start, view: RideView(rideID: "r1", ride: Ride(id: "r1", state: nil), phones: []))
    scenario.steps = [
      ScenarioStep(at: start, [.ride(RideUpdate(id: "r1", state: "requested"))]),
      ScenarioStep(at: start + .seconds(1), [.card(phone)]),
    ]
    #expect(scenario.hasCards)
    let other = scenario.withoutCards()
    #expect(!other.hasCards && other.steps.map(\.title) == ["requested"])
  }
}
