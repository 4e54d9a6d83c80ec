import RideCore

/// How far a push gets: on its way to a phone, and there.
package enum PushFate: Hashable, Sendable {
  /// A person can see it, or hears it.
  case shown(Attention)
  /// It only woke the app, or changed the badge.
  case unseen
  /// It reached the phone and changed nothing, for this reason.
  case ignored(String)
  /// The phone was off, and the service kept a later push in its place.
  case replaced(by: String)
  /// The phone was off, and the push was for now or never.
  case notStored
  /// The phone was off for longer than the push was kept.
  case expired
  /// FCM deleted all messages that it stored, because they were too many.
  case wiped
}

/// How much a push asks for attention.
package enum Attention: String, Hashable, Sendable, CaseIterable {
  /// It joins the list, or the card changes.
  case silent
  /// The screen lights up.
  case lit
  case rang
}

extension Attention {
  /// Returns how an iPhone shows an alert.
  ///
  /// Time-sensitive alerts break through Focus unless the person turned that off, which the model does
  /// not know. The alert of a card has no level and is not documented to break through.
  static func ofAlert(level: String?, hasSound: Bool, inFocus: Bool) -> Attention {
    let loud = hasSound ? Attention.rang : .lit
    return switch level {
    case "passive": .silent
    case "time-sensitive", "critical": loud
    default: inFocus ? .silent : loud
    }
  }

  /// Returns how an Android phone shows an alert: its channel decides, also against the push.
  ///
  /// The app made the channels that rules name themselves; here they have a sound. Do Not Disturb
  /// silences every channel, unless the person excepted one, which the model does not know.
  static func ofAlert(channel: String?, hasSound: Bool, inFocus: Bool) -> Attention {
    if inFocus { return .silent }
    guard let channel else { return hasSound ? .rang : .lit }
    return switch AndroidChannel(rawValue: channel) {
    case .quiet: .silent
    case .news, .now: hasSound ? .rang : .lit
    case nil: .rang
    }
  }
}
