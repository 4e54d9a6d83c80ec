import Base
import Foundation
import PostgresStore
import PushClient
import RideCore
import RuleFiles

/// `ridepulse channels`: manages Apple's broadcast channels, and shows which ride each belongs to.
enum Channels: Command {
  enum Word: String, CaseIterable {
    case create, read, delete, list, reconcile

    /// Whether it changes what Apple holds, with or without an option.
    var writes: Bool { self == .create || self == .delete }
    var namesChannel: Bool { self == .read || self == .delete }
  }

  static let form = CommandForm(
    name: "channels", summary: "create, read, list and delete Apple's broadcast channels",
    operands: [
      .choice("WORD", CommandForm.words(Word.self)),
      .init(name: "CHANNEL", isOptional: true, help: "the channel's ID, for read and delete"),
    ],
    options: [
      .init(name: "--app", value: "APP", isRequired: true, help: "the app, such as customer"),
      .init(
        name: "--environment", value: "NAME", choices: CommandForm.words(APNsEnvironment.self),
        help: "production or sandbox (sandbox if APNS_SANDBOX is true)"),
      .init(
        name: "--storage", value: "POLICY", choices: CommandForm.words(ChannelStorage.self),
        help: "create: none, or latest for phones that are offline (none)"),
      .init(name: "--ride", value: "ID", help: "create: the ride of the channel"),
      .format,
      .init(name: "--yes", help: "delete: do not ask for confirmation"),
      .init(name: "--apply", help: "reconcile: delete leaked channels"),
    ],
    notes: [
      "reconcile compares what Apple lists with ridepulse.channels. Without --apply it changes nothing,",
      "and exits with status 2 if there is something to clean up. Channels of others are never deleted.",
    ])

  static func run(_ context: CommandContext) async throws -> ExitStatus {
    let arguments = try ChannelArguments(context)
    let environment = context.environment
    let variables = try APNsVariables(environment)
    let credentials = try variables.loadCredentials()
    return try await Database.with(environment, name: "channels") { session in
      try await Database.requireSchema(session)
      if arguments.word.writes || context.arguments.has("--apply") {
        try await Database.requirePin(variables.pin(credentials), session)
      }
      let repository = ChannelRepository(session: session)
      let (clock, base) = (ContinuousClock(), try await repository.now())
      let start = clock.now
      let client = ChannelClient(
        configuration: variables.configuration, credentials: credentials,
        now: { base + start.duration(to: clock.now) })
      let service = ChannelService(client: client, repository: repository)
      return try await perform(arguments, service, context)
    }
  }

  private static func perform(
    _ arguments: ChannelArguments, _ service: ChannelService, _ context: CommandContext
  ) async throws -> ExitStatus {
    switch arguments.word {
    case .create: try await create(arguments, service)
    case .read: try await read(arguments, service)
    case .delete: try await delete(arguments, service, context)
    case .list:
      arguments.print(try await service.audit(in: arguments.scope))
      return .done
    case .reconcile:
      return try await reconcile(arguments, service, applies: context.arguments.has("--apply"))
    }
    return .done
  }

  private static func create(
    _ arguments: ChannelArguments, _ service: ChannelService
  ) async throws {
    let newChannel = NewChannel(
      app: arguments.app, scope: arguments.scope, storage: arguments.storage,
      rideID: arguments.ride.map(RideID.init),
      requestID: ChannelService.newRequestID())
    let made = try await service.create(newChannel)
    arguments.print(
      made.isNew ? "made" : "the ride has it already", made.channel, storage: newChannel.storage)
  }

  private static func read(_ arguments: ChannelArguments, _ service: ChannelService) async throws {
    let channel = try arguments.channel()
    let storage = try await service.client.storage(of: channel, in: arguments.scope)
    let row = try await service.repository.row(of: channel, in: arguments.scope)
    arguments.print(row == nil ? "not ours" : "ours", channel, storage: storage)
  }

  private static func delete(
    _ arguments: ChannelArguments, _ service: ChannelService, _ context: CommandContext
  ) async throws {
    let channel = try arguments.channel()
    let row = try await service.repository.row(of: channel, in: arguments.scope)
    if let ride = row?.rideID, row?.endedAt == nil {
      let states = (try? RuleDirectoryChoice.load(nil, context.environment))?.ruleSet.activeStates
      if try await service.repository.isLive(ride: ride.text, activeStates: states ?? []) {
        throw CommandFailure(
          "the channel \(channel) is in use: ride \(Escape.line(ride.text)) is not over; delete it when the ride is over"
        )
      }
    }
    let question = "permanently delete the channel \(channel) of \(arguments.scope)?"
    guard try context.confirms(question, for: "delete", form) else {
      throw CommandFailure("nothing was deleted")
    }
    let wasThere = try await service.delete(channel, in: arguments.scope)
    arguments.print(wasThere ? "deleted" : "gone already", channel, storage: row?.storage)
  }

  private static func reconcile(
    _ arguments: ChannelArguments, _ service: ChannelService, applies: Bool
  ) async throws -> ExitStatus {
    var audit = try await service.audit(in: arguments.scope)
    let deleted = applies ? audit.count(.leaked) : 0
    if applies { audit = try await service.clear(audit, in: arguments.scope) }
    arguments.print(audit)
    let left = audit.count(.leaked)
    let open = left + audit.count(.unclear) + (applies ? 0 : audit.count(.missing))
    if arguments.isJSON { return open > 0 ? .foundProblems : .done }
    if applies { Terminal.print("\(counted(deleted, "channel")) deleted") }
    if left > 0, !applies { Terminal.print("--apply deletes leaked channels") }
    return open > 0 ? .foundProblems : .done
  }
}

/// The command line of `channels`, validated before anything is opened.
private struct ChannelArguments: Sendable {
  let word: Channels.Word
  let app: App
  let scope: ChannelScope
  let storage: ChannelStorage
  let ride: String?
  let isJSON: Bool
  private let channelText: String?

  init(_ context: CommandContext) throws {
    let arguments = context.arguments
    guard let word = Channels.Word(rawValue: arguments.operands[0]) else {
      throw arguments.error("unexpected word \(arguments.operands[0])")
    }
    self.word = word
    channelText = arguments.operands.count > 1 ? arguments.operands[1] : nil
    try Self.check(word, channelText, arguments)
    let name = arguments.value("--app") ?? ""
    app = App(rawValue: name)
    let bundleIDs = ServiceVariables.spelled(
      APNsVariables.bundleIDs(context.environment), as: [app])
    guard let bundleID = bundleIDs[app] else {
      throw arguments.error(
        "unknown app \(name): \(APNsVariables.bundleIDName(app)) is not set"
          + suggestion(for: name, among: bundleIDs.keys.map(\.rawValue)))
    }
    let environment =
      try arguments.choice("--environment")
      ?? APNsVariables.defaultEnvironment(context.environment)
    scope = ChannelScope(bundleID: bundleID, environment: environment)
    storage = arguments.choice("--storage") ?? .nothing
    ride = arguments.value("--ride")
    isJSON = arguments.choice("--format", of: OutputFormat.self) == .json
  }

  /// Checks the arguments that depend on the word.
  private static func check(
    _ word: Channels.Word, _ channel: String?, _ arguments: Arguments
  ) throws(UsageError) {
    if word.namesChannel, channel == nil { throw arguments.error("CHANNEL is missing") }
    if !word.namesChannel, let channel { throw arguments.error("unexpected word \(channel)") }
    if word != .create, arguments.has("--storage") || arguments.has("--ride") {
      throw arguments.error("--storage and --ride belong to create")
    }
    if word != .reconcile, arguments.has("--apply") {
      throw arguments.error("--apply belongs to reconcile")
    }
    if let channel, ChannelID(channel) == nil {
      throw arguments.error("\(channel) is not a channel ID: expected base64")
    }
  }

  /// Returns the channel ID of the command line, or throws if it is missing.
  func channel() throws(UsageError) -> ChannelID {
    guard let channel = channelText.flatMap({ ChannelID($0) }) else {
      throw UsageError("CHANNEL is missing", form: Channels.form)
    }
    return channel
  }

  func print(_ audit: ChannelAudit) {
    let report = ChannelReport(audit: audit, scope: scope)
    if isJSON { Terminal.print(json: report.json) } else { Terminal.print(report.table) }
  }

  func print(_ result: String, _ channel: ChannelID, storage: ChannelStorage?) {
    if isJSON {
      Terminal.print(
        json: .object([
          "channel": .string(channel.rawValue), "result": .string(result),
          "storage": .orNull(storage?.rawValue), "bundle_id": .string(scope.bundleID),
          "environment": .string(scope.environment.rawValue),
        ]))
    } else {
      let storage = storage.map { ", storage \($0.rawValue)" } ?? ""
      Terminal.print("\(channel) of \(scope)\(storage): \(result)")
    }
  }
}
