import Inbox
import RideCore
import SimulatorKit

/// Runs the program from its arguments to an exit status: 0 done, 1 failed or refused, 64 wrong
/// usage.
enum Launch {
  static func run(_ words: [String]) -> Int32 {
    do {
      switch try Command.parse(words) {
      case .help(let text): Log.print(text)
      case .serve(let options): try serve(options)
      case .push(let options): return try options.run(at: .now())
      case .replay(let options): return try options.run()
      }
      return 0
    } catch let error as UsageError {
      Log.write("\(error); see apns-simulator --help")
      return 64
    } catch {
      Log.write("\(error)")
      return 1
    }
  }

  private static func serve(_ options: Options) throws {
    let state = StateDirectory(path: options.stateDirectory, keyID: options.keyID)
    try state.certificates.prepare()
    let faultFile = try options.faultsPath.map { try WatchedFile(path: $0) }
    let keyFile = try KeyFile(state: state, team: options.teamID)
    var faults = FaultControl(.pushes)
    if let faultFile { try faults.read(file: faultFile.path) }
    let inbox = options.inbox.map { _ in MessageInbox() }
    let simulator = try Simulator(
      options: options, keys: try keyFile.read(), state: state,
      deviceTokens: try read(state.tokensPath, DeviceTokenRegistry.init(text:))
        ?? DeviceTokenRegistry(),
      channels: try read(state.channelsPath, ChannelRegistry.init(text:)) ?? ChannelRegistry(),
      faults: faults, inbox: inbox)
    if let faultFile {
      faultFile.onChange = { [path = faultFile.path] in simulator.rereadFaults(path) }
    }
    keyFile.file.onChange = { [unowned keyFile] in simulator.reread(keyFile) }
    let web = try web(options, inbox, simulator)
    let server = try Server(
      service: simulator, settings: options.server,
      tls: TLSContext(
        certificatePath: state.certificates.serverCertificatePath,
        keyPath: state.certificates.serverKeyPath,
        clientAuthorityPath: options.clientAuthorityPath),
      files: [keyFile.file] + (faultFile.map { [$0] } ?? []), web: web)
    let address = "https://127.0.0.1:\(server.port)"
    Log.print("apns-simulator: listening on \(address) state=\(options.stateDirectory)\n")
    if let web { InboxPort.announce(web, of: "apns-simulator") }
    server.run()
  }

  private static func web(
    _ options: Options, _ inbox: MessageInbox?, _ simulator: Simulator
  ) throws -> WebPort? {
    guard let endpoint = options.inbox, let inbox else { return nil }
    return try InboxPort.open(
      endpoint, for: inbox, of: "apns-simulator", on: .ios,
      control: { simulator.controlAnswer($0, at: $1) })
  }

  /// Returns nil if the file does not exist.
  private static func read<Value>(_ path: String, _ body: ([UInt8]) throws -> Value) throws
    -> Value?
  {
    guard File.exists(path) else { return nil }
    return try File.parse(File.read(path), of: path, body)
  }
}

enum Help {
  static let text = """
    usage: apns-simulator [options]
           apns-simulator push FILE.apns [options]
           apns-simulator replay FILE [options]

    A local Apple Push Notification service for development and tests: HTTP/2 over TLS on
    127.0.0.1. It checks each push, answers as APNs does, and writes what arrived to
    requests.jsonl. It also refuses what APNs accepts and a phone drops; --lenient changes that.
    `push` sends a file to the running simulator, `replay` recorded requests: see their --help.

      --port N              port to listen on, 0 for a free one (default 2197)
      --state DIR           certificates, JWT key, records (default ./.apns-simulator)
      --sink                answer 200 at once; check and record nothing
      --team-id ID          expected iss of JWTs (default SIMTEAM001)
      --key-id ID           expected kid of JWTs (default SIMKEY0001); more in keys.json
      --client-ca FILE      accept client certificates that this CA (PEM) signed
      --topic BUNDLE        known bundle ID, may be repeated
                            (default com.example.customer and com.example.driver)
      --environment NAME    production (default) or sandbox
      --strict NAME         refuse more than APNs does: headers, aps, jwt or all
      --lenient NAME        accept as APNs does: payloads (refused by default), headers, aps, jwt
                            or all
      --token-rate N/S      pushes in S seconds that a token may receive, else TooManyRequests
                            (default any number)
      --channel-limit N     broadcast channels an app may have (default 10000)
      --no-broadcast BUNDLE an app without Broadcast Capability, may be repeated
      --faults FILE         faults as JSON; read again when the file changes
      --initial-streams N   stream limit until the first valid JWT (default 1)
      --max-streams N       stream limit after it (default 1000)
      --latency MS          delay of each answer (default 0)
      --inbox HOST:PORT     a page at http://HOST:PORT/ with each phone and each push, and
                            GET /messages for tests; 127.0.0.1 serves this machine alone
      --exit-with-stdin     exit when standard input ends
      --quiet               log nothing but failures
      --help                print this text

    Files in DIR: ca.pem (clients trust it), AuthKey_<KEYID>.p8 (clients sign with it),
    keys.json (further keys and their scopes, read again when it changes), requests.jsonl (one push
    a line), tokens.json (device tokens, read at start if it is there), channels.json (broadcast
    channels), channels.jsonl (calls about them), broadcasts.jsonl, deliveries.jsonl (pushes to
    devices that were offline).

    Control calls on the same port: GET, POST, DELETE /simulator/faults; GET /simulator/stats;
    POST, DELETE /simulator/tokens; POST /devices/TOKEN/offline, /devices/TOKEN/online.

    """
}
