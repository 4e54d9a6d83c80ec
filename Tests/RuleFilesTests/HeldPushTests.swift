import Testing

/// Pushes that quiet hours deferred, after what they state has become false in the night.
@Suite struct HeldPushTests {
  @Test func `a bill that is paid, a rating and a new driver leave nothing false to send`() throws {
    let directory = try RuleTestDirectory("Held")
    #expect(directory.tests.count == 3)
    #expect(directory.unmet() == [])
  }
}
