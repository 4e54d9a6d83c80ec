/// Lists the environment variables of the commands for the man page. A test compares it with the
/// table in docs/configuration.md and the package's environment file.
enum EnvironmentList {
  static let all: [(names: [String], meaning: String)] = [
    (
      ["DATABASE_URL"],
      "libpq connection string or URL; without it libpq's own PG* variables"
    ),
    (["APNS_KEY_ID", "APNS_TEAM_ID"], "ten characters each, as Apple shows them"),
    (["APNS_PRIVATE_KEY_PATH"], "the .p8 signing key"),
    (
      ["APNS_SANDBOX"],
      "true: phones whose row names no environment are sandbox ones (default: production)"
    ),
    (
      ["APNS_CUSTOMER_BUNDLE_ID", "APNS_DRIVER_BUNDLE_ID"],
      "topics; APNS_<APP>_BUNDLE_ID adds an app of any other name"
    ),
    (
      ["APNS_CUSTOMER_WIDGET_BUNDLE_ID", "APNS_DRIVER_WIDGET_BUNDLE_ID"],
      "only where set, the base of the topic of an app's cards instead of its bundle ID; "
        + "Apple wants the app's"
    ),
    (
      ["APNS_PRODUCTION_URL", "APNS_SANDBOX_URL"],
      "other endpoints than Apple's: https://host:port"
    ),
    (
      ["APNS_PRODUCTION_CHANNELS_URL", "APNS_SANDBOX_CHANNELS_URL"],
      "where channels are managed, if not at Apple's"
    ),
    (
      ["APNS_PRODUCTION_BROADCAST_URL", "APNS_SANDBOX_BROADCAST_URL"],
      "where broadcasts go, if not where the environment's pushes go"
    ),
    (["APNS_CA_FILE"], "a further CA to trust (PEM), beside the system's"),
    (
      ["RIDEPULSE_LISTEN"],
      "off: serve polls every 2 s, and no transaction of the app notifies it (default: on)"
    ),
    (["RIDEPULSE_SCHEDULES"], "rule directory (default: schedules)"),
    (
      ["RIDEPULSE_ADMIN"],
      "address of the admin server (default: 127.0.0.1:9464), or off"
    ),
    (
      ["RIDEPULSE_ADMIN_TOKEN"],
      "what writing calls of the admin server must bring; without it they answer 403"
    ),
    (
      ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"],
      "set by systemd; serve tells it when it is ready, reloads, stops, and that it moves"
    ),
  ]
}
