import Base
import Testing

@testable import RideCore

/// Phones in recorded passes.
@Suite struct RecordedRegistrationTests {
  private func registration(_ platform: Platform) -> Registration {
    var phone = Phone(id: 1, app: .customer, ownerID: "c", token: "cD:Xy", locale: "de")
    phone.platform = platform
    return Registration(phone)
  }

  @Test func `the platform and the token of an Android phone are recorded as they are`() throws {
    let android = registration(.android)
    let json = try #require(JSONValue(json: android.storedText.utf8))
    #expect(json.value(at: ["platform"]) == .string("android"))
    let read = try Registration(storedText: android.storedText)
    #expect(read == android && read.token == "cD:Xy")
  }

  @Test func `an iPhone is recorded without a platform, as days before have it`() throws {
    let text = registration(.ios).storedText
    #expect(!text.contains("platform"))
    let read = try Registration(storedText: text)
    #expect(read.platform == .ios && read.token == "cd:xy")
  }
}
