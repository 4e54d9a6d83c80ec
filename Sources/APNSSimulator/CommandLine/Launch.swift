import Glibc

/// Runs the program from its arguments to an exit status: 0 done, 1 failed, 64 wrong usage.
enum Launch {
  static func run(_ words: [String]) -> Int32 {
    do {
      switch try Command.parse(words) {
      case .help: say(Help.text)
      case .serve(let options): try serve(options)
      }
      return 0
    } catch let error as Command.UsageError {
      Log.write("\(error); see apns-simulator --help")
      return 64
    } catch {
      Log.write("\(error)")
      return 1
    }
  }

  private static func serve(_ options: Options) throws {
    let state = StateDirectory(path: options.stateDirectory, keyID: options.keyID)
    try state.prepare()
    let faultFile = try options.faultsPath.map { try FaultFile(path: $0) }
    let simulator = try Simulator(
      options: options, key: try state.verificationKey(), state: state,
      deviceTokens: try read(state.tokensPath, DeviceTokenRegistry.init(text:))
        ?? DeviceTokenRegistry(),
      channels: try read(state.channelsPath, ChannelRegistry.init(text:)) ?? ChannelRegistry(),
      faults: FaultSet(try faultFile?.read() ?? []))
    let server = try Server(
      simulator: simulator,
      tls: TLSContext(
        certificatePath: state.serverCertificatePath, keyPath: state.serverKeyPath),
      faultFile: faultFile)
    let address = "https://127.0.0.1:\(server.port)"
    say("apns-simulator: listening on \(address) state=\(options.stateDirectory)\n")
    server.run()
  }

  /// Returns nil if the file does not exist.
  private static func read<Value>(_ path: String, _ body: ([UInt8]) throws -> Value) throws
    -> Value?
  {
    guard File.exists(path) else { return nil }
    do {
      return try body(File.read(path))
    } catch let error as FormatError {
      throw FormatError(
        place: path + (error.place.isEmpty ? "" : ": \(error.place)"),
        found: error.found, expected: error.expected)
    }
  }

  /// Writes to the descriptor directly, so that no buffer delays the ready line.
  private static func say(_ text: String) {
    let bytes = Array(text.utf8)
    _ = unsafe write(STDOUT_FILENO, bytes, bytes.count)
  }
}
