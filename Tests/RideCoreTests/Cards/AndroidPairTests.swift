import Testing

@testable import Base
@testable import RideCore
@testable import Timeline

/// One person with an iPhone and Android phones: each receives an alert once, by its card or by an
/// ordinary push, and what one of them shows is not kept from another.
@Suite("A person with an iPhone and an Android phone") struct AndroidPairTests {
  /// A ride whose customer has the Android phones 7 and 8 and the iPhone 1, before "driver_arrived".
  ///
  /// - Parameter shows: The phones that show the card.
  private func stage(shows: Set<Int64>) -> CardStage {
    var stage = CardStage.android(7, 8)
    stage.phones.append(Sample.phone(1))
    if shows.contains(1) { stage.register() }
    for id: Int64 in [7, 8] where !shows.contains(id) {
      stage.cards.append(
        Card(
          .phone(id), app: .customer, ownerID: "c", token: "\(id)", registeredAt: stage.now,
          isGone: true))
    }
    stage.others = [Sample.rule(body: "{{ride.state}}")]
    stage.state("driver_assigned")
    stage.run(for: .seconds(20))
    stage.wire = []
    return stage
  }

  /// Who was alerted, by an ordinary push or by a card.
  private func alerted(_ stage: CardStage) -> [String] {
    stage.wire.compactMap { arrival in
      if !arrival.isCard { return "phone \(arrival.push.entry.phone ?? 0)" }
      guard let message = AndroidArrival(arrival) else {
        return arrival.title == nil ? nil : "card 1"
      }
      return message.title == nil ? nil : "card \(message.phone)"
    }.sorted()
  }

  @Test(
    arguments: [
      ([1, 7, 8], ["card 1", "card 7", "card 8"]), ([1], ["card 1", "phone 7", "phone 8"]),
      ([7], ["card 7", "phone 1", "phone 8"]), ([7, 8], ["card 7", "card 8", "phone 1"]),
      ([1, 8], ["card 1", "card 8", "phone 7"]), ([], ["phone 1", "phone 7", "phone 8"]),
    ] as [(Set<Int64>, [String])])
  func `each phone is alerted once, and a card covers the alert of its own phone alone`(
    shows: Set<Int64>, expected: [String]
  ) {
    var stage = stage(shows: shows)
    stage.state("driver_arrived")
    stage.run(for: .seconds(60))
    #expect(alerted(stage) == expected)
    #expect(!stage.ledger.values.contains { $0.status == .pending })
  }

  @Test(arguments: [PushNetwork.android, .production])
  func `an alert that one phone's service refuses on the card goes to that phone alone`(
    network: PushNetwork
  ) {
    var stage = stage(shows: [1, 7, 8])
    stage.state("driver_arrived")
    stage.run(for: .seconds(60)) { push in
      let isOfCard = push.headers.pushType == .liveactivity && push.network == network
      return isOfCard ? .refused(400, "INVALID_ARGUMENT") : .accepted
    }
    #expect(
      alerted(stage)
        == (network == .android
          ? ["card 1", "phone 7", "phone 8"] : ["card 7", "card 8", "phone 1"]))
  }

  @Test(arguments: [PushNetwork.android, .production])
  func `an outage of one service keeps nothing from the phones of the other`(
    network: PushNetwork
  ) {
    var stage = stage(shows: [])
    stage.state("driver_arrived")
    stage.run(for: .seconds(30)) {
      $0.network == network ? .unsent(.noConnection("down")) : .accepted
    }
    #expect(alerted(stage) == (network == .android ? ["phone 1"] : ["phone 7", "phone 8"]))
    stage.run(for: .seconds(200))
    #expect(alerted(stage) == ["phone 1", "phone 7", "phone 8"], "each once, when it is back")
  }
}
