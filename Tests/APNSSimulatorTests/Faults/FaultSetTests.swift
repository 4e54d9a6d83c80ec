import Testing

@testable import APNSSimulator

@Suite struct FaultSetTests {
  private static let subject = FaultSubject(token: "abcd", topic: "com.a", connection: 2)

  private func faults(_ text: String) throws -> FaultSet {
    FaultSet(try FaultReader.read(text: Array(text.utf8)))
  }

  @Test(arguments: [
    ("{}", true), (#"{"token":"ABCD"}"#, true), (#"{"token":"abc"}"#, false),
    (#"{"token_prefix":"AB"}"#, true), (#"{"token_prefix":"b"}"#, false),
    (#"{"topic":"com.a"}"#, true), (#"{"topic":"com.b"}"#, false),
    (#"{"connection":2}"#, true), (#"{"connection":1}"#, false),
    (#"{"token":"abcd","connection":1}"#, false),
  ])
  func `a fault strikes what it matches`(match: String, strikes: Bool) throws {
    var set = try faults(#"[{"match":\#(match),"action":{"stall":true}}]"#)
    #expect((set.strike(Self.subject) != nil) == strikes)
  }

  @Test(arguments: [
    (#""match":{"every":3}"#, [2, 5]), (#""match":{"first":2}"#, [0, 1]),
    (#""times":1"#, [0]), (#""match":{"every":2},"times":1"#, [1]),
    (#""match":{}"#, [0, 1, 2, 3, 4, 5]),
  ])
  func `a fault strikes as often as it says`(members: String, struck: [Int]) throws {
    var set = try faults(#"[{\#(members),"action":{"stall":true}}]"#)
    #expect((0..<6).filter { _ in set.strike(Self.subject) != nil } == struck)
  }

  @Test func `the first fault that is due strikes alone`() throws {
    var set = try faults(
      #"[{"action":{"close":true},"times":1},{"action":{"stall":true},"times":1}]"#)
    #expect((0..<3).map { _ in set.strike(Self.subject)?.action } == [.close, .stall, nil])
  }
}
