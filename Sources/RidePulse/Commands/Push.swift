import PostgresStore
import RideCore

/// `ridepulse push`: sends one push that no rule defines.
enum Push: Command {
  static let form = CommandForm(
    name: "push", summary: "send one push to a token, without a rule",
    options: [
      RawPushOptions.app,
      .init(
        name: "--token", value: "TOKEN", isRequired: true,
        help: "the token of a phone or card, registered or not; of Android also an installation ID"),
      RawPushOptions.payload,
      .choice(
        "--type", "TYPE", CommandForm.words(PushType.self), default: PushType.alert.rawValue),
      .init(
        name: "--priority", value: "N", choices: ["10", "5", "1"],
        help: "10 at once, 5 when it suits the phone, 1 without waking it (that of the type)"),
      RawPushOptions.expires(longest: "30d"), RawPushOptions.wait, .format,
    ],
    notes: RawPushOptions.notes + [
      "The payload is what APNs gets or, for an Android phone, FCM's message without the phone.",
      "A token that is reported as gone is disabled if a phone with it is registered.",
    ])

  static func run(_ context: CommandContext) async throws -> ExitStatus {
    let arguments = context.arguments
    guard let target = arguments.value("--token").flatMap({ RawPush.Target(token: $0) }) else {
      // The message does not quote the value: it may be a real token.
      throw arguments.error(
        "--token is not a token: 2 to 512 hexadecimal digits, an even number of them, or one of FCM"
      )
    }
    return try await RawPushSender(
      context: context, target: target, pushType: arguments.choice("--type") ?? .alert
    ).run()
  }
}

/// `ridepulse broadcast`: sends one push to all who follow a channel.
enum Broadcast: Command {
  static let form = CommandForm(
    name: "broadcast", summary: "send one Live Activity push to all subscribers of a channel",
    operands: [.init(name: "CHANNEL", help: "the channel's ID in base64")],
    options: [
      RawPushOptions.app, RawPushOptions.payload, RawPushOptions.expires(longest: "8h"),
      RawPushOptions.wait, .format,
    ],
    notes: RawPushOptions.notes + [
      "A channel without storage needs --expires never-store, unless RidePulse created it."
    ])

  static func run(_ context: CommandContext) async throws -> ExitStatus {
    guard let channel = ChannelID(context.arguments.operands[0]) else {
      throw context.arguments.error(
        "CHANNEL is not a channel ID in base64; ridepulse channels list prints the known ones")
    }
    return try await RawPushSender(
      context: context, target: .channel(channel), pushType: .liveactivity
    ).run()
  }
}

/// The options that both commands have.
private enum RawPushOptions {
  static let app = CommandForm.Option(
    name: "--app", value: "APP", isRequired: true, help: "the app, such as customer")

  static let payload = CommandForm.Option(
    name: "--payload", value: "FILE", isRequired: true,
    help: "the JSON to send; - is standard input")

  static func expires(longest: String) -> CommandForm.Option {
    .init(
      name: "--expires", value: "DURATION",
      help: "how long it is valid, up to \(longest), or never-store (1h)")
  }

  static let wait = CommandForm.Option(
    name: "--wait", help: "wait for the verdict and print it; status 1 unless it is accepted")

  static let notes = [
    "Prints the apns-id. The push goes through the service's ledger like all others: it is retried",
    "while it is valid, and `deliveries` and `explain` show its outcome under the rule push or broadcast.",
    "json is one object: apns_id and, with --wait, delivery, which is null if no verdict came in time.",
  ]
}
