/// A mistake in the service's configuration that kept a push from its phone.
package struct ConfigurationMistake: Hashable, Sendable {
  package var app: App
  /// Nil if the mistake concerns both environments of APNs.
  package var network: PushNetwork?
  package var code: LedgerReason.Code

  package init(app: App, network: PushNetwork?, code: LedgerReason.Code) {
    self.app = app
    self.network = network
    self.code = code
  }

  /// Returns the mistake that an outcome reveals; nil if it reveals none.
  init?(_ push: PlannedPush, _ outcome: PushOutcome) {
    guard let code = Verdict(outcome, over: push.network).reason?.code, code.isOfConfiguration
    else { return nil }
    self.init(app: push.entry.app, network: push.network, code: code)
  }

  /// Returns the mistake for which a push was not sent; nil if it ended for another reason.
  init?(unsent entry: LedgerEntry) {
    guard entry.status == .suppressed, let code = entry.reason?.code, code.isOfConfiguration else {
      return nil
    }
    let isOfAndroid = code == .engine(.noServiceAccount)
    self.init(app: entry.app, network: isOfAndroid ? .android : nil, code: code)
  }
}

/// The configuration mistakes that have been reported, so that each is reported once.
package struct ConfigurationMistakes: Sendable {
  /// The maximum number of mistakes that are reported: rules and rides may name any app.
  package static let limit = 1000

  private var known: Set<ConfigurationMistake> = []

  package init() {}

  /// Returns the mistakes in settlements that were not reported before, in their order.
  package mutating func add(_ settlements: [Settlement]) -> [ConfigurationMistake] {
    var new: [ConfigurationMistake] = []
    for mistake in settlements.lazy.flatMap(\.mistakes) where known.count < Self.limit {
      if known.insert(mistake).inserted { new.append(mistake) }
    }
    return new
  }

  /// Makes every mistake new again, after the configuration has changed.
  package mutating func forgetAll() {
    known = []
  }
}
