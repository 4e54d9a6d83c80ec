import Inbox
import RideCore
import SimulatorKit

/// Runs the program from its arguments to an exit status: 0 done, 1 failed, 64 wrong usage.
enum Launch {
  static func run(_ words: [String]) -> Int32 {
    do {
      switch try Command.parse(words) {
      case .help: Log.print(Help.text)
      case .serve(let options): try serve(options)
      }
      return 0
    } catch let error as UsageError {
      Log.write("\(error); see fcm-simulator --help")
      return 64
    } catch {
      Log.write("\(error)")
      return 1
    }
  }

  private static func serve(_ options: Options) throws {
    let certificates = CertificateFiles(
      directory: options.stateDirectory, authorityName: "RidePulse FCM simulator CA")
    try certificates.prepare()
    let faultFile = try options.faultsPath.map { try WatchedFile(path: $0) }
    var faults = FaultControl(.messages)
    if let faultFile { try faults.read(file: faultFile.path) }
    let inbox = options.inbox.map { _ in MessageInbox() }
    let simulator = try Simulator(options: options, faults: faults, inbox: inbox)
    if let faultFile {
      faultFile.onChange = { [path = faultFile.path] in simulator.rereadFaults(path) }
    }
    let web = try web(options, inbox, simulator)
    let server = try Server(
      service: simulator, settings: options.server,
      tls: TLSContext(
        certificatePath: certificates.serverCertificatePath, keyPath: certificates.serverKeyPath,
        allowsHTTP1: true),
      files: faultFile.map { [$0] } ?? [], web: web)
    let address = "https://127.0.0.1:\(server.port)"
    // The files name the address, which is known only now.
    try simulator.prepareAccounts(tokenURI: address + "/token")
    Log.print("fcm-simulator: listening on \(address) state=\(options.stateDirectory)\n")
    if let web { InboxPort.announce(web, of: "fcm-simulator") }
    server.run()
  }

  private static func web(
    _ options: Options, _ inbox: MessageInbox?, _ simulator: Simulator
  ) throws -> WebPort? {
    guard let endpoint = options.inbox, let inbox else { return nil }
    return try InboxPort.open(
      endpoint, for: inbox, of: "fcm-simulator", on: .android,
      control: { simulator.isControl($0) ? simulator.controlAnswer($0, at: $1) : nil })
  }
}

enum Help {
  static let text = """
    usage: fcm-simulator [options]

    A local Firebase Cloud Messaging for development and tests: its HTTP v1 API and Google's token
    endpoint, over TLS on 127.0.0.1, by HTTP/2 or HTTP/1.1. It checks each message, answers as FCM
    does, and records what arrived and what each phone would have got.

      --port N          port to listen on, 0 for a free one (default 2198)
      --state DIR       certificates, service accounts, records (default ./.fcm-simulator)
      --project ID      a Firebase project, may be repeated (default rides)
      --strict NAME     check also, or again: priority, ttl, cards, payload, size, high, android-v2,
                        unknown, or all but unknown
      --lenient NAME    do not check one of these
      --device-rate N/S messages in S seconds that a registration may receive, else QUOTA_EXCEEDED
      --quota N/S       messages in S seconds that a project may send, else QUOTA_EXCEEDED
      --token-life S    life of an access token in seconds (default 3599)
      --duplicate N/M   deliver N of M messages twice, as FCM may (default none)
      --seed N          decides in which order a phone gets what was stored (default 1)
      --inbox HOST:PORT a page at http://HOST:PORT/ with each phone and each message, and
                        GET /messages for tests; 127.0.0.1 serves this machine alone
      --faults FILE     faults as JSON; read again when the file changes
      --max-streams N   stream limit of a connection (default 100)
      --latency MS      delay of each answer (default 0)
      --exit-with-stdin exit when standard input ends
      --quiet           log nothing but failures
      --help            print this text

    Files in DIR: ca.pem (clients trust it), service-account.json (of the first project; those of
    others are service-account-ID.json), registrations.json (registrations, read at start if it is
    there), requests.jsonl (one message a line), tokens.jsonl (calls of the token endpoint),
    deliveries.jsonl (what phones got, and what they did not).

    Control calls on the same port: GET, POST, DELETE /simulator/faults; GET /simulator/stats;
    POST /simulator/expire-tokens; POST /phones/REGISTRATION/STATE with awake, doze, offline,
    uninstalled or restricted.

    """
}
