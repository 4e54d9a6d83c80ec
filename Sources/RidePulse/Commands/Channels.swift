import APNSClient
import Foundation
import PostgresStore
import RideCore
import RuleFiles

/// `ridepulse channels`: manages Apple's broadcast channels, and shows which ride each belongs to.
enum Channels: Command {
  enum Word: String, CaseIterable {
    case create, read, delete, list, reconcile

    var namesChannel: Bool { self == .read || self == .delete }
  }

  static let form = CommandForm(
    name: "channels", summary: "make, read, list and delete Apple's broadcast channels",
    operands: [
      .init(
        name: "WORD", choices: CommandForm.words(Word.self),
        help: "create, read, delete, list or reconcile"),
      .init(name: "CHANNEL", isOptional: true, help: "the channel's ID, for read and delete"),
    ],
    options: [
      .init(name: "--app", value: "APP", help: "the app, such as customer; required"),
      .init(
        name: "--environment", value: "NAME", choices: CommandForm.words(APNsEnvironment.self),
        help: "production or sandbox (sandbox if APNS_SANDBOX is true)"),
      .init(
        name: "--storage", value: "POLICY", choices: CommandForm.words(ChannelStorage.self),
        help: "create: none, or latest for phones that are offline (none)"),
      .init(name: "--ride", value: "ID", help: "create: the ride of the channel"),
      .init(
        name: "--format", value: "FORMAT", choices: CommandForm.words(Request.Format.self),
        help: "table or json (table)"),
      .init(name: "--yes", help: "delete: do not ask"),
      .init(name: "--apply", help: "reconcile: delete what leaked"),
    ],
    notes: [
      "reconcile compares what Apple lists with ridepulse.channels. Without --apply it changes nothing,",
      "and ends with status 2 where there is something to clear. Channels of others are never deleted.",
    ])

  static func run(_ context: CommandContext) async throws -> ExitStatus {
    let request = try Request(context)
    let environment = context.environment
    let variables = try APNsVariables(environment)
    let key = try variables.signingKey()
    return try await Database.with(environment, name: "channels") { session in
      try await Database.requireSchema(session)
      let repository = ChannelRepository(session: session)
      let (clock, base) = (ContinuousClock(), try await repository.now())
      let start = clock.now
      let client = ChannelClient(
        configuration: variables.configuration, key: key,
        now: { base + start.duration(to: clock.now) })
      let service = ChannelService(client: client, repository: repository)
      return try await perform(request, service, context)
    }
  }

  private static func perform(
    _ request: Request, _ service: ChannelService, _ context: CommandContext
  ) async throws -> ExitStatus {
    switch request.word {
    case .create: try await create(request, service)
    case .read: try await read(request, service)
    case .delete: try await delete(request, service, context)
    case .list:
      request.print(try await service.audit(in: request.scope))
      return .done
    case .reconcile:
      return try await reconcile(request, service, applies: context.arguments.has("--apply"))
    }
    return .done
  }

  private static func create(_ request: Request, _ service: ChannelService) async throws {
    let wish = ChannelWish(
      app: request.app, scope: request.scope, storage: request.storage,
      rideID: request.ride.map(RideID.init),
      requestID: ChannelService.newRequestID())
    let made = try await service.create(wish)
    request.notify(
      made.isNew ? "made" : "the ride has it already", made.channel, storage: wish.storage)
  }

  private static func read(_ request: Request, _ service: ChannelService) async throws {
    let channel = try request.channel()
    let storage = try await service.client.storage(of: channel, in: request.scope)
    let row = try await service.repository.row(of: channel, in: request.scope)
    request.notify(row == nil ? "not ours" : "ours", channel, storage: storage)
  }

  private static func delete(
    _ request: Request, _ service: ChannelService, _ context: CommandContext
  ) async throws {
    let channel = try request.channel()
    let row = try await service.repository.row(of: channel, in: request.scope)
    if let ride = row?.rideID, row?.endedAt == nil {
      let states = (try? RuleDirectoryChoice.load(nil, context.environment))?.ruleSet.activeStates
      if try await service.repository.isLive(ride: ride.text, activeStates: states ?? []) {
        throw CommandFailure(
          "the channel \(channel) is in use: ride \(Escape.line(ride.text)) goes on; delete it when the ride is over"
        )
      }
    }
    guard try agreed(context, "delete the channel \(channel) of \(request.scope) for ever?") else {
      throw CommandFailure("nothing was deleted")
    }
    let wasThere = try await service.delete(channel, in: request.scope)
    request.notify(wasThere ? "deleted" : "gone already", channel, storage: row?.storage)
  }

  private static func agreed(_ context: CommandContext, _ question: String) throws -> Bool {
    if context.arguments.has("--yes") { return true }
    guard isatty(STDIN_FILENO) == 1, Terminal.isInteractive else {
      throw UsageError("delete needs --yes where nobody can be asked", form: form)
    }
    Terminal.write("\(Escape.line(question)) [y/N] ", to: STDOUT_FILENO)
    return ["y", "yes"].contains(readLine()?.lowercased())
  }

  private static func reconcile(
    _ request: Request, _ service: ChannelService, applies: Bool
  ) async throws -> ExitStatus {
    var audit = try await service.audit(in: request.scope)
    let deleted = applies ? audit.count(.leaked) : 0
    if applies { audit = try await service.clear(audit, in: request.scope) }
    request.print(audit)
    let left = audit.count(.leaked)
    let open = left + audit.count(.unclear) + (applies ? 0 : audit.count(.missing))
    if request.isJSON { return open > 0 ? .foundProblems : .done }
    if applies { Terminal.print("\(counted(deleted, "channel")) deleted") }
    if left > 0, !applies { Terminal.print("--apply deletes what leaked") }
    return open > 0 ? .foundProblems : .done
  }
}

extension Channels {
  /// The parsed command line, validated before anything is opened.
  struct Request: Sendable {
    let word: Word
    let app: App
    let scope: ChannelScope
    let storage: ChannelStorage
    let ride: String?
    let isJSON: Bool
    private let channelText: String?

    init(_ context: CommandContext) throws {
      let arguments = context.arguments
      word = try form.choice(arguments.operands[0], "word", of: Word.self)
      channelText = arguments.operands.count > 1 ? arguments.operands[1] : nil
      if word.namesChannel, channelText == nil {
        throw UsageError("CHANNEL is missing", form: form)
      }
      if !word.namesChannel, let text = channelText {
        throw UsageError("unexpected word \(text)", form: form)
      }
      guard let name = arguments.value("--app"), !name.isEmpty else {
        throw UsageError("--app APP is missing", form: form)
      }
      app = App(rawValue: name)
      let bundleIDs = APNsVariables.bundleIDs(context.environment)
      guard let bundleID = bundleIDs[app] else {
        throw UsageError(
          "unknown app \(name): APNS_\(name.uppercased())_BUNDLE_ID is not set",
          known: bundleIDs.keys.map(\.rawValue), word: name, form: form)
      }
      let environment =
        try arguments.value("--environment").map {
          try form.choice($0, "environment", of: APNsEnvironment.self)
        } ?? APNsVariables.defaultEnvironment(context.environment)
      scope = ChannelScope(bundleID: bundleID, environment: environment)
      storage =
        try arguments.value("--storage").map {
          try form.choice($0, "storage", of: ChannelStorage.self)
        } ?? .nothing
      ride = arguments.value("--ride")
      isJSON =
        try arguments.value("--format").map { try form.choice($0, "format", of: Format.self) }
        == .json
      if word != .create, arguments.has("--storage") || arguments.has("--ride") {
        throw UsageError("--storage and --ride belong to create", form: form)
      }
      if word != .reconcile, arguments.has("--apply") {
        throw UsageError("--apply belongs to reconcile", form: form)
      }
      if let channelText, ChannelID(channelText) == nil {
        throw UsageError("\(channelText) is no channel ID: expected base64", form: form)
      }
    }

    enum Format: String, CaseIterable {
      case table, json
    }

    /// Returns the channel ID of the command line, or throws if it is missing.
    func channel() throws(UsageError) -> ChannelID {
      guard let channel = channelText.flatMap({ ChannelID($0) }) else {
        throw UsageError("CHANNEL is missing", form: form)
      }
      return channel
    }

    /// Prints an audit in the requested format.
    func print(_ audit: ChannelAudit) {
      let report = ChannelReport(audit: audit, scope: scope)
      if isJSON { Terminal.print(json: report.json) } else { Terminal.print(report.table) }
    }

    /// Prints the result for one channel.
    func notify(_ what: String, _ channel: ChannelID, storage: ChannelStorage?) {
      if isJSON {
        let members: [String: JSONValue] = [
          "channel": .string(channel.rawValue), "result": .string(what),
          "storage": storage.map { .string($0.rawValue) } ?? .null,
          "bundle_id": .string(scope.bundleID), "environment": .string(scope.environment.rawValue),
        ]
        Terminal.print(json: String(decoding: JSONValue.object(members).json, as: UTF8.self))
      } else {
        let keeps = storage.map { ", storage \($0.rawValue)" } ?? ""
        Terminal.print("\(channel) of \(scope)\(keeps): \(what)")
      }
    }
  }
}
