import Testing

@testable import Base
@testable import RideCore

/// The rule by which permits are granted; `PermitStoreTests` compares it with the database's.
@Suite("R84: the book of permits") struct PermitBookTests {
  @Test(arguments: [(599_999_999, true), (600_000_000, false)] as [(Int64, Bool)])
  func `a push counts for less than its rule's time, and longer for another rule`(
    later: Int64, isRefused: Bool
  ) {
    let permits = (0..<2).map { number in
      Permit(
        id: PushID(of: "permit", "\(number)"), app: .customer, owner: "c", pushes: .topic("news"),
        ride: "r1", window: .seconds(3600))
    }
    let now = Sample.now + .microseconds(later)
    for (per, refuses) in [(Duration.seconds(600), isRefused), (.seconds(3600), true)] {
      var book = PermitBook()
      book.add(permits[0], sentAt: Sample.now)
      let request = PermitRequest(
        permit: permits[1], cap: PushCap(count: 1, per: per), validUntil: now + .seconds(300),
        occurredAt: now)
      #expect(book.refuse([request], at: now).isEmpty != refuses)
    }
  }

  @Test(arguments: [[0, 1, 2], [2, 0, 1], [1, 2, 0]])
  func `of several requests the oldest firing has the permit`(order: [Int]) {
    let requests = order.map { number in
      let id = PushID(of: "request", "\(number)")
      return PermitRequest(
        permit: Permit(
          id: id, app: .customer, owner: "c", pushes: .topic("news"), ride: "r1",
          window: .seconds(600)),
        cap: PushCap(count: 1, per: .seconds(600)), validUntil: Sample.now + .seconds(300),
        occurredAt: Sample.now + .seconds(number))
    }
    var book = PermitBook()
    #expect(book.refuse(requests, at: Sample.now).count == 2)
    #expect(book.granted.map(\.id) == [PushID(of: "request", "0")])
  }
}
