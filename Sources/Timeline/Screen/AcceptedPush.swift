package import Base
package import RideCore

/// A push of a real ride as the ledger has it: that a service accepted it, when, and for which token;
/// not what it contained.
package struct AcceptedPush: Hashable, Sendable {
  /// `apns-id`
  package var id: String
  package var rule: String
  package var app: App
  /// The person whom it was for; nil for a channel, and once the person is erased.
  package var owner: OwnerID?
  package var platform: Platform
  package var type: PushType
  package var cardEvent: CardEvent?
  /// The last digits of its token; nil for a channel.
  package var tokenSuffix: String?
  package var event: String
  package var eventAt: Timestamp
  /// When it was accepted.
  package var at: Timestamp
  package var collapseID: String?
  /// Whether the rules at hand decided it, so that deciding again gives its content.
  package var isOfTheseRules = true

  package init(
    id: String, rule: String, app: App, owner: OwnerID? = nil, platform: Platform = .ios,
    type: PushType = .alert, cardEvent: CardEvent? = nil, tokenSuffix: String?, event: String,
    eventAt: Timestamp, at: Timestamp, collapseID: String? = nil
  ) {
    self.id = id
    self.rule = rule
    self.app = app
    self.owner = owner
    self.platform = platform
    self.type = type
    self.cardEvent = cardEvent
    self.tokenSuffix = tokenSuffix
    self.event = event
    self.eventAt = eventAt
    self.at = at
    self.collapseID = collapseID
  }
}

extension ScreenPush {
  /// Creates a push whose content is not known: an alert shows the name of its rule.
  ///
  /// - Parameter card: How an Android phone tells its card from others.
  init(unknown push: AcceptedPush, ofRide ride: RideID, androidCard card: String) {
    self.init(
      id: push.id, rule: push.rule, platform: push.platform, type: push.type,
      address: push.tokenSuffix ?? "", storage: .apns(.neverStore), collapseID: push.collapseID,
      card: push.cardEvent == nil ? nil : ride.text,
      payload: push.platform == .ios ? push.unknownPayload : push.unknownMessage(card))
    hasContent = false
  }
}

extension AcceptedPush {
  fileprivate var unknownPayload: JSONValue {
    if let cardEvent {
      return .object([
        "aps": .object([
          "event": .string(cardEvent.rawValue), "timestamp": .integer(at.epochSeconds),
          "content-state": .null,
        ])
      ])
    }
    let alert: [String: JSONValue] = ["alert": .object(["title": .string(rule)])]
    return .object(["aps": .object(type == .alert ? alert : ["content-available": .integer(1)])])
  }

  fileprivate func unknownMessage(_ card: String) -> JSONValue {
    let message: [String: JSONValue]
    if let cardEvent {
      message = [
        "data": .object([
          "rp_kind": .string("card"), "rp_card": .string(card), "rp_state": .string("null"),
          "rp_look": .string("null"),
          "rp_event": .string(cardEvent.rawValue), "rp_ts": .string(String(at.epochSeconds)),
        ])
      ]
    } else if type == .alert {
      var notification: [String: JSONValue] = ["title": .string(rule)]
      if let collapseID { notification["tag"] = .string(collapseID) }
      message = ["android": .object(["notification": .object(notification)])]
    } else {
      message = [:]
    }
    return .object(["message": .object(message)])
  }
}
