import RideCore

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
