import Foundation
import Testing

@testable import Base
@testable import RideCore

/// IDs are equal if their bytes are, as in Postgres.
@Suite struct IdentifierTests {
  static let composed = "caf\u{e9}"
  static let decomposed = "cafe\u{301}"

  @Test func `IDs that Unicode calls equivalent are two`() {
    #expect(Self.composed == Self.decomposed)
    #expect(RideID(Self.composed) != RideID(Self.decomposed))
    #expect(Set([OwnerID(Self.composed), OwnerID(Self.decomposed)]).count == 2)
    #expect(App(rawValue: Self.composed) != App(rawValue: Self.decomposed))
    #expect([RideID(Self.composed), RideID(Self.decomposed)].sorted().first?.text.utf8.count == 6)
  }

  @Test(arguments: ["", "a", "12345678", "123456789", "\u{0}", "r\u{301}", "🚕🚕🚕"])
  func `an ID is equal to itself and survives JSON`(text: String) throws {
    let id = RideID(text)
    #expect(id == RideID(String(decoding: Array(text.utf8), as: UTF8.self)))
    #expect(Set([id, RideID(text)]).count == 1)
    let json = [id].storedText
    #expect(try [RideID](storedText: json) == [id])
  }

  @Test func `a phone of a person with an equivalent ID receives nothing`() {
    var ride = Sample.ride()
    ride.customerID = OwnerID(Self.composed)
    let phones = [
      Sample.phone(1, owner: OwnerID(Self.decomposed)),
      Sample.phone(2, owner: OwnerID(Self.composed), token: "aabb"),
    ]
    let decision = decide(
      Sample.view(ride: ride, phones: phones), by: Sample.book(), now: Sample.now)
    #expect(decision.pushes.map(\.entry.phone) == [2])
  }

  @Test func `collapse IDs that Unicode calls equivalent replace nothing of each other`() {
    let book = Sample.book([
      Sample.rule("a", on: ["requested"], collapse: Self.composed),
      Sample.rule("b", on: ["driver_arrived"], collapse: Self.decomposed),
    ])
    let decision = decide(
      Sample.view(events: [Sample.event(1, "requested"), Sample.event(2)]), by: book,
      now: Sample.now)
    #expect(decision.pushes.count == 2)
  }
}
