import Foundation

/// Method, path and body of a report, as docs/api.md has them.
struct RequestParts {
  var method = "POST"
  var path = ""
  var body: [String: BodyValue]?

  init(_ report: Report, owner: String, identity: CallQueue.Identity) {
    var fields: [String: BodyValue?] = ["app": .text(identity.app), "owner_id": .text(owner)]
    let installation = identity.installation.map(BodyValue.text)
    let environment = (identity.environment?.rawValue).map(BodyValue.text)
    switch report {
    case .phone(let phone):
      path = "/v1/devices"
      fields["app"] = .text(phone.app)
      fields["token"] = .text(phone.token)
      fields["environment"] = environment
      if phone.isOnlyOne { fields["installation_id"] = installation }
      fields["locale"] = phone.locale.map(BodyValue.text)
      fields["time_zone"] = phone.timeZone.map(BodyValue.text)
      fields["app_version"] = phone.appVersion.map(BodyValue.text)
      fields["alerts"] = phone.alerts.map(BodyValue.flag)
    case .start(let type, let token):
      path = "/v1/push-to-start"
      fields["attributes_type"] = .text(type)
      fields["token"] = .text(token)
      (fields["environment"], fields["installation_id"]) = (environment, installation)
    case .card(let card):
      path = "/v1/live-activities"
      fields["ride_id"] = .text(card.ride)
      fields["activity_id"] = .text(card.activityID)
      fields["token"] = .text(card.token)
      fields["frequent"] = .flag(card.isFrequent)
      (fields["environment"], fields["installation_id"]) = (environment, installation)
    case .contact:
      path = "/v1/contact"
      fields["installation_id"] = installation
    case .seen(let id):
      path = "/v1/seen"
      fields = ["apns_id": .text(id)]
    case .withdrawPhone(let app, let token, _):
      withdraw("/v1/devices/\(Self.part(app))/\(Self.part(token))")
    case .withdrawStart(_, let token):
      withdraw("/v1/push-to-start/\(Self.part(identity.app))/\(Self.part(token))")
    case .endCard(let id): withdraw(Self.path(ofCard: id, owner, identity))
    case .withdrawCard(let id):
      withdraw(Self.path(ofCard: id, owner, identity) + "&reason=signed_out")
    }
    if method == "POST" { body = fields.compactMapValues { $0 } }
  }

  private mutating func withdraw(_ path: String) { (method, self.path) = ("DELETE", path) }

  private static func path(
    ofCard id: String, _ owner: String, _ identity: CallQueue.Identity
  ) -> String {
    "/v1/live-activities/\(part(identity.app))/\(part(id))?owner_id=\(part(owner))"
  }

  private static let unreserved = CharacterSet(
    charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

  private static func part(_ text: String) -> String {
    text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
  }
}
