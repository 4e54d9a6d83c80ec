import Base
import Testing

@testable import RideCore
@testable import Timeline

/// An old sender's pushes next to RidePulse's.
@Suite("Comparing two senders") struct SenderComparisonTests {
  private static let always = Timestamp(microseconds: .min)..<Timestamp(microseconds: .max)

  private static func old(_ second: Int64, _ person: OwnerID = "c1", _ kind: String = "arrived")
    -> OldPush
  {
    OldPush(
      at: Timestamp(epochSeconds: second), person: person, kind: kind, line: Int(second) + 2)
  }

  private static func new(
    _ second: Int64, _ person: OwnerID = "c1", rule: String = "arrived",
    event: String = "driver_arrived", is outcome: NewPush.Outcome = .sent
  ) -> NewPush {
    let at = Timestamp(epochSeconds: second)
    return NewPush(
      at: at, person: person, app: .customer, ride: "r1", rule: rule, event: event, eventAt: at,
      outcome: outcome)
  }

  private static let blocked = NewPush.Outcome.notSent(
    status: "suppressed", reasonCode: "opted_out")

  private func compare(
    _ old: [OldPush], _ new: [NewPush], pairs: [(kind: String, rule: String)] = [],
    in range: Range<Timestamp> = always
  ) -> SenderComparison {
    SenderComparison(
      old, new, KindMap(pairs, kinds: Set(old.map(\.kind))), within: .seconds(60), in: range)
  }

  private func shape(_ found: SenderComparison) -> [[Int]] {
    [
      found.both.flatMap { [$0.old, $0.new] }, found.notSent.flatMap { [$0.old, $0.new] },
      found.undecided, found.onlyNew,
    ]
  }

  @Test func `a push of both senders is a pair, in the window alone`() {
    #expect(shape(compare([Self.old(0)], [Self.new(60)])) == [[0, 0], [], [], []])
    #expect(shape(compare([Self.old(60)], [Self.new(0)])) == [[0, 0], [], [], []])
    #expect(shape(compare([Self.old(0)], [Self.new(61)])) == [[], [], [0], [0]])
    #expect(shape(compare([Self.old(0)], [Self.new(0, "c2")])) == [[], [], [0], [0]])
    #expect(
      shape(compare([Self.old(0)], [Self.new(0, rule: "left", event: "x")]))
        == [[], [], [0], [0]])
  }

  @Test func `a card that shows it counts, and what was blocked explains what only the old sent`() {
    #expect(shape(compare([Self.old(0)], [Self.new(1, is: .covered)])) == [[0, 0], [], [], []])
    #expect(
      shape(compare([Self.old(0)], [Self.new(1, is: Self.blocked)])) == [[], [0, 0], [], []])
    // A push that was sent is taken first, however close one is that was not.
    #expect(
      shape(compare([Self.old(0)], [Self.new(0, is: Self.blocked), Self.new(9)]))
        == [[0, 1], [], [], []])
    #expect(
      shape(compare([Self.old(0), Self.old(5)], [Self.new(9), Self.new(0, is: Self.blocked)]))
        == [[1, 0], [0, 1], [], []])
    // What no sender sent is nothing.
    #expect(shape(compare([], [Self.new(0, is: Self.blocked)])) == [[], [], [], []])
  }

  @Test func `kinds are rules by the map, and else by the name of the rule or event`() {
    let old = [Self.old(0, "c1", "HERE"), Self.old(0, "c2", "driver_arrived")]
    let new = [Self.new(0, "c1", rule: "arrived-pin"), Self.new(0, "c2"), Self.new(0, "c1")]
    #expect(shape(compare(old, new)) == [[1, 1], [], [0], [0, 2]])
    #expect(
      shape(compare(old, new, pairs: [("HERE", "arrived-pin")])) == [[0, 0, 1, 1], [], [], [2]])
    let both = compare(old, new, pairs: [("HERE", "arrived-pin"), ("HERE", "arrived")])
    #expect(shape(both) == [[0, 0], [], [1], [1, 2]])
    // A mapped kind is no name of a rule any more.
    let kinds = KindMap([("arrived", "here")], kinds: ["arrived", "left"])
    #expect(kinds.kind(of: Self.new(0)) == "rule arrived" && kinds.names == ["here", "left"])
    #expect(kinds.kind(of: Self.new(0, rule: "here")) == "arrived")
    #expect(kinds.kind(of: Self.new(0, rule: "x", event: "left")) == "left")
  }

  @Test func `what is outside the range is only the other one of a pair`() {
    let range = Timestamp(epochSeconds: 0)..<Timestamp(epochSeconds: 100)
    let found = compare(
      [Self.old(-5), Self.old(10), Self.old(99, "c2"), Self.old(101, "c3")],
      [Self.new(1), Self.new(12), Self.new(103, "c2"), Self.new(99, "c3"), Self.new(110, "c4")],
      in: range)
    #expect(shape(found) == [[1, 1, 2, 2], [], [], []])
  }

  /// Times on both sides, and the pairs.
  @Test(
    arguments: [
      ([0, 10], [0, 10], [[0, 0], [1, 1]]), ([0], [-50, 1], [[0, 1]]), ([-50, 1], [0], [[1, 0]]),
      ([0, 100], [50], [[0, 0]]), ([0, 50], [40, 100], [[0, 0], [1, 1]]),
      ([0, 1, 2], [2], [[2, 0]]), ([], [1], []), ([0], [], []),
      ([0, 0, 0], [0, 0], [[0, 0], [1, 1]]),
      ([0, 60, 120], [60, 120, 180], [[0, 0], [1, 1], [2, 2]]),
    ] as [([Int64], [Int64], [[Int]])])
  func `times are paired`(left: [Int64], right: [Int64], pairs: [[Int]]) {
    let found = TimePairs(
      left.map(Timestamp.init(epochSeconds:)), right.map(Timestamp.init(epochSeconds:)),
      within: .seconds(60))
    #expect(found.pairs.map { [$0.0, $0.1] } == pairs)
  }

  @Test func `no other pairing has more pairs, and no neighbour of a pair is closer`() {
    var random = SeededGenerator(seed: 36)
    for _ in 0..<500 {
      func times() -> [Timestamp] {
        (0..<Int.random(in: 0...7, using: &random))
          .map { _ in Timestamp(epochSeconds: .random(in: 0...300, using: &random)) }.sorted()
      }
      let (left, right) = (times(), times())
      let pairs = TimePairs(left, right, within: .seconds(60)).pairs
      func distance(_ i: Int, _ j: Int) -> Int64 { abs((left[i] - right[j]).microseconds) }
      #expect(pairs.allSatisfy { distance($0.0, $0.1) <= 60_000_000 })
      #expect(Set(pairs.map(\.0)).count == pairs.count && Set(pairs.map(\.1)).count == pairs.count)
      #expect(pairs.count == Self.most(left, right), "\(left) \(right)")
      let (lefts, rights) = (Set(pairs.map(\.0)), Set(pairs.map(\.1)))
      for (i, j) in pairs {
        for other in right.indices.dropFirst(j + 1).prefix(while: { !rights.contains($0) }) {
          #expect(distance(i, other) >= distance(i, j))
        }
        for other in left.indices.dropFirst(i + 1).prefix(while: { !lefts.contains($0) }) {
          #expect(distance(other, j) >= distance(i, j))
        }
      }
    }
  }

  /// The most pairs, by trying all.
  private static func most(_ left: [Timestamp], _ right: [Timestamp]) -> Int {
    func most(_ index: Int, _ free: Set<Int>) -> Int {
      if index == left.count { return 0 }
      var best = most(index + 1, free)
      for other in free where abs((left[index] - right[other]).microseconds) <= 60_000_000 {
        best = max(best, 1 + most(index + 1, free.subtracting([other])))
      }
      return best
    }
    return most(0, Set(right.indices))
  }

  @Test func `the order of the input changes no count`() {
    var random = SeededGenerator(seed: 37)
    for _ in 0..<100 {
      let people: [OwnerID] = ["c1", "c2"]
      var old = (0..<12).map { _ in
        Self.old(.random(in: 0...200, using: &random), people.randomElement(using: &random) ?? "c1")
      }
      var new = (0..<12).map { _ in
        Self.new(
          .random(in: 0...200, using: &random), people.randomElement(using: &random) ?? "c1",
          is: Bool.random(using: &random) ? .sent : Self.blocked)
      }
      let found = shape(compare(old, new)).map(\.count)
      #expect(found[0] / 2 + found[1] / 2 + found[2] == old.count)
      #expect(found[0] / 2 + found[3] == new.count { $0.isShown })
      old.shuffle(using: &random)
      new.shuffle(using: &random)
      #expect(shape(compare(old, new)).map(\.count) == found)
    }
  }
}
