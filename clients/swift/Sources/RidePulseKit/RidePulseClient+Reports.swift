public import Foundation

extension RidePulseClient {
  /// Reports the phone's token, each time that iOS passes it.
  ///
  /// `alerts` is whether the person allows notifications; nil keeps what is known.
  public func phone(
    token: Data, alerts: Bool? = nil, locale: String? = Locale.preferredLanguages.first,
    timeZone: String? = TimeZone.current.identifier, appVersion: String? = nil
  ) {
    var phone = PhoneReport(app: app, token: token.hexadecimal)
    (phone.alerts, phone.locale, phone.timeZone) = (alerts, locale, timeZone)
    phone.appVersion = appVersion
    report(.phone(phone))
  }

  /// Reports a token of the app's widgets or location extension, which is an app of its own in the rules.
  public func phone(token: Data, of app: String) {
    report(.phone(PhoneReport(app: app, token: token.hexadecimal)))
  }

  /// Reports the tokens of the app's controls, which are an app of their own in the rules; those that are
  /// missing are withdrawn.
  public func controls(tokens: [Data], of app: String) {
    reportControls(tokens: Set(tokens.map(\.hexadecimal)), of: app)
  }

  /// Reports a token with which cards of a type can be started.
  public func start(type: String, token: Data) {
    report(.start(type: type, token: token.hexadecimal))
  }

  /// Withdraws a start token: the person switched Live Activities off.
  public func withdrawStart(type: String, token: Data) {
    report(.withdrawStart(type: type, token: token.hexadecimal))
  }

  /// Reports the newest token of a card; `isFrequent` is `frequentPushesEnabled`.
  public func card(_ activityID: String, ride: String, token: Data, isFrequent: Bool) {
    report(
      .card(
        CardReport(
          activityID: activityID, ride: ride, token: token.hexadecimal, isFrequent: isFrequent)))
  }

  /// Reports that a card ended or was dismissed.
  public func cardEnded(_ activityID: String) { report(.endCard(activityID)) }

  /// Reports which cards exist at launch: others that were registered went while the app did not run.
  public func cardsPresent(_ activityIDs: Set<String>) { reportPresent(cards: activityIDs) }

  /// Reports that the app worked for the person: at the foreground, and for a background push.
  public func contact() { report(.contact) }

  /// Reports that an alert was displayed: the `apns_id` of its `userInfo`.
  public func seen(_ apnsID: String) { report(.seen(apnsID)) }
}

extension Data {
  /// A token as the server takes it.
  var hexadecimal: String {
    let digits = Array("0123456789abcdef")
    return String(flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
  }
}
