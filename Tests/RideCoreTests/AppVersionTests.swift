import Testing

@testable import RideCore

@Suite struct AppVersionTests {
  private static let ordered = [
    ["1"], ["5.2", "5.2.0", "5.2-beta", "5.2 (812)"], ["5.2.1"], ["5.10"], ["05.11"], ["12.0.3"],
  ]

  @Test func `Versions are compared number by number`() throws {
    let versions = try Self.ordered.map { texts in
      try texts.map { text in try #require(AppVersion(text), "\(text)") }
    }
    for (index, equal) in versions.enumerated() {
      for version in equal {
        #expect(version == equal[0] && !(version < equal[0]))
        for later in versions.dropFirst(index + 1).joined() {
          #expect(version < later && later > version && version != later)
        }
      }
    }
  }

  @Test(arguments: ["", "beta", "v5", ".", "99999999999999999999", "٥.٢"])
  func `A text without a number at its beginning is no version`(text: String) {
    #expect(AppVersion(text) == nil)
  }

  @Test func `Later fields are found also within lists and objects`() {
    let members = ["gate": CardField(.string, since: 3), "name": CardField(.string)]
    let contract = CardContract(
      typeName: "Ride", attributes: ["rideId": CardField(.string, since: 1)],
      contentState: [
        "note": CardField(.string, since: 3), "stops": CardField(.list(.object(members))),
        "eta": CardField(.int, since: 2),
      ])
    #expect(
      contract.laterFields == [
        2: ["content-state.eta"], 3: ["content-state.note", "content-state.stops[].gate"],
      ])
  }
}
