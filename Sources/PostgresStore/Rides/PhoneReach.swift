import RideCore

/// What a phone's system and environment are, and whether its person has turned alerts off.
///
/// The row has it in one word in the place of the environment, so that a claim reads no more columns
/// for it: a phone's own environment or null, unless one of the others is needed.
struct PhoneReach: Hashable {
  var platform = Platform.ios
  var environment: APNsEnvironment?
  var hasAlertsOff = false

  /// The word of a phone `d`.
  static let sql = """
    case when d.platform = 'ios' and d.alerts is not false then d.environment
      else case when d.alerts is false then 'silent_' else '' end
        || case d.platform when 'ios' then coalesce(d.environment, 'ios') else d.platform end end
    """

  init(_ phone: Phone) {
    (platform, environment) = (phone.platform, phone.environment)
    hasAlertsOff = phone.hasAlertsOff
  }

  /// What `sql` returns.
  var word: String? {
    let name = platform == .ios ? environment?.rawValue : platform.rawValue
    return hasAlertsOff ? "silent_\(name ?? "ios")" : name
  }

  /// Reads a word of `sql`; an unknown one is that of a phone without an environment.
  init(_ word: String?) {
    switch word {
    case nil: break
    case "production": environment = .production
    case "sandbox": environment = .sandbox
    case "android": platform = .android
    case "silent_android": (platform, hasAlertsOff) = (.android, true)
    case "silent_production": (environment, hasAlertsOff) = (.production, true)
    case "silent_sandbox": (environment, hasAlertsOff) = (.sandbox, true)
    case "silent_ios": hasAlertsOff = true
    default: break
    }
  }
}
