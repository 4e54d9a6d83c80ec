import Base
import PostgresStore
import RideCore

/// A phone with what its app last registered: for `explain` of a person, a token and a ride.
struct PhoneLine {
  let phone: FoundPhone
  /// The zone of the times; nil means UTC.
  let zone: ZoneTimes?

  var text: String {
    let recipient = LedgerText.recipient(
      phone.app, of: phone.ownerID, phone.tokenSuffix, isAndroid: phone.isAndroid)
    let known = [
      phone.environment, phone.locale, zoneOfPhone, phone.appVersion.map { "version \($0)" },
      phone.allowsAlerts == false ? "alerts not allowed" : nil,
    ].compactMap(\.self)
    let parts = [recipient] + known + ["registered \(local(phone.registeredAt))"]
    let end = phone.disabledAt.map {
      "; disabled \(local($0)): \(phone.disabledReason ?? "")"
    }
    let quarantine = phone.quarantinedAt.map { "; in quarantine since \(local($0))" }
    return parts.joined(separator: ", ") + (end ?? "") + (quarantine ?? "")
  }

  private var zoneOfPhone: String? {
    phone.timeZone.map { name in
      ZoneTimes(identifier: name) == nil
        ? "time zone \(name.quotedBrief), which is unknown and counts as none" : name
    }
  }

  private func local(_ instant: Timestamp) -> String { CivilTime.local(instant, zone) }
}

extension FoundPhone {
  var json: JSONValue {
    .object([
      "app": .string(app), "owner_id": .string(ownerID.text),
      "token_suffix": .string(tokenSuffix), "environment": .orNull(environment),
      "locale": .orNull(locale), "platform": .orNull(platform),
      "time_zone": .orNull(timeZone), "alerts": allowsAlerts.map { .bool($0) } ?? .null,
      "app_version": .orNull(appVersion), "registered_at": .orNull(registeredAt),
      "disabled_at": .orNull(disabledAt), "disabled_reason": .orNull(disabledReason),
      "quarantined_at": .orNull(quarantinedAt),
    ])
  }
}
