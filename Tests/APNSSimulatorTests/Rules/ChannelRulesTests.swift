import Testing

@testable import APNSSimulator
@testable import SimulatorKit

@Suite struct ChannelRulesTests {
  private func refusal(
    _ kind: ChannelCall.Kind, _ change: (inout Request) -> Void = { _ in }
  ) -> Refusal? {
    var request = Fixture.request(kind)
    change(&request)
    let push = Push(request, in: Fixture.channelContext)
    return PushRules.evaluate(push, by: ChannelRules.all, proven: ChannelRules.proven).refusal
  }

  @Test(arguments: ChannelCall.Kind.allCases)
  func `R31: a correct call is accepted`(kind: ChannelCall.Kind) {
    #expect(refusal(kind) == nil)
    #expect(refusal(kind) { $0.set("apns-request-id", nil) } == nil, "it is optional")
    #expect(refusal(kind) { $0.set("content-type", nil) } == nil)
  }

  @Test(arguments: WrongCall.all)
  func `R31: a call with one mistake is refused`(wrong: WrongCall) {
    let refusal = wrong.result().refusal
    #expect(refusal?.reason == wrong.reason, "\(refusal?.detail ?? "accepted")")
  }

  /// Proves that the table can fail: without any one channel rule, some row has a different result.
  @Test(arguments: ChannelRules.all.indices)
  func `removing any rule changes a result`(index: Int) {
    var rules = ChannelRules.all
    let removed = rules.remove(at: index)
    // Rules shared with pushes have their rows in the table of pushes.
    if PushRules.rules.contains(where: { $0.name == removed.name }) { return }
    let caught = WrongCall.all.contains { $0.result(by: rules).refusal != $0.result().refusal }
    #expect(caught, "no row depends on the rule: \(removed.name)")
  }

  @Test func `boundary values are accepted`() {
    #expect(refusal(.broadcast) { $0.setBody(WrongCall.long(5120)) } == nil)
    for type in ["LiveActivity", "Liveactivity"] {
      #expect(refusal(.broadcast) { $0.set("apns-push-type", type) } == nil, "Apple's own sample")
    }
    #expect(refusal(.broadcast) { $0.setBody(Fixture.activity(#""event":"end""#)) } == nil)
    for priority in ["5", "1"] {
      #expect(refusal(.broadcast) { $0.set("apns-priority", priority) } == nil)
    }
    #expect(refusal(.broadcast) { $0.set("apns-expiration", "0") } == nil)
    #expect(
      refusal(.broadcast) {
        $0.set("apns-channel-id", Fixture.storingNothing)
        $0.set("apns-expiration", "0")
      } == nil)
    #expect(
      refusal(.create) {
        $0.setBody(#"{"push-type":"LiveActivity","message-storage-policy":0}"#)
      } == nil)
  }

  @Test(arguments: [
    (Reason.featureNotEnabled, 400), (.missingChannelID, 400), (.badChannelID, 400),
    (.channelNotRegistered, 400), (.badRequestParams, 400), (.badRequestPayload, 400),
    (.missingPushType, 400), (.cannotCreateChannelConfig, 400),
  ])
  func `statuses are Apple's`(reason: Reason, status: Int) {
    #expect(reason.status == status)
  }

  @Test func `a registry is restored from its file`() throws {
    let context = Fixture.channelContext
    let again = try ChannelRegistry(text: context.channels.json.serialized)
    #expect(again == context.channels)
    #expect(again.count(of: "com.example.customer") == 2)
    #expect(again.wasDeleted(Fixture.deleted, app: "com.example.customer"))
    #expect(Fixture.latest.utf8.count == 24 && Fixture.latest.hasSuffix("=="))
  }
}
