import Testing

@testable import RideCore

@Suite struct CardTypeTallyTests {
  private static func lines(_ payloads: String...) -> [String] {
    var tally = CardTypeTally()
    for payload in payloads { tally.add(Array(payload.utf8), of: "Ride") }
    return tally.lines.map { "\($0.field) \($0.type.rawValue) \($0.count)" }
  }

  @Test func `R95: each type that a field has is counted`() {
    let states = [
      #""eta":1763712000,"on":true,"s":"a\"},{b","to":{"x":[1,{"y":2}]},"v":[{"z":"]"}]"#,
      #""eta":"soon","on":false,"s":"","to":{},"v":[]"#, #""eta":20.5,"new":null,"s":"x","v":-3"#,
      #""eta":1e3"#, #""eta":-7"#,
    ]
    let payloads = states.map {
      #"{"aps":{"alert":{"title":"\"content-state\":{"},"content-state":{\#($0)},"event":"update"},"k":1}"#
    }
    var tally = CardTypeTally()
    for payload in payloads { tally.add(Array(payload.utf8), of: "Ride") }
    #expect(
      tally.lines.map { "\($0.field) \($0.type.rawValue) \($0.count)" } == [
        "content-state.eta string 1", "content-state.eta int 2", "content-state.eta fraction 2",
        "content-state.new null 1", "content-state.on bool 2", "content-state.s string 3",
        "content-state.to object 2", "content-state.v int 1", "content-state.v list 2",
      ])
    #expect(!tally.isEmpty && CardTypeTally().isEmpty)
  }

  @Test func `R95: the attributes of a start are counted, too`() {
    #expect(
      Self.lines(
        #"{"aps":{"attributes":{"rideId":"r"},"attributes-type":"Ride","content-state":{"rideId":1}}}"#
      )
        == ["attributes.rideId string 1", "content-state.rideId int 1"])
  }

  @Test(arguments: [
    "", "{", "{}", "[]", "{\"aps\"", "{\"aps\":", "{\"aps\":{\"content-state\":{\"a\":",
    "{\"aps\":1}",
    "{\"aps\":{\"content-state\":null}}", "{\"aps\":{\"content-state\":{\"a",
    "{\"aps\":{\"content-state\":{}}}",
    "{\"", "\"\\", "{\"aps\":{\"content-state\":{\"a\":}}}",
  ])
  func `R95: no text that is cut off does harm`(text: String) {
    #expect(Self.lines(text).count <= 1)
  }
}
