/// The exact help text; a change here is a change of the interface.
let goldenHelp = """
  usage: apns-simulator [options]

  A local Apple Push Notification service for development and tests: HTTP/2 over TLS on
  127.0.0.1, stricter than Apple's. It checks each push, answers as APNs does, and writes what
  arrived to requests.jsonl.

    --port N              port to listen on, 0 for a free one (default 2197)
    --state DIR           certificates, JWT key, records (default ./.apns-simulator)
    --sink                answer 200 at once; check and record nothing
    --team-id ID          expected iss of JWTs (default SIMTEAM001)
    --key-id ID           expected kid of JWTs (default SIMKEY0001)
    --topic BUNDLE        known bundle ID, may be repeated
                          (default com.example.customer and com.example.driver)
    --environment NAME    production (default) or sandbox
    --channel-limit N     broadcast channels an app may have (default 10000)
    --no-broadcast BUNDLE an app without Broadcast Capability, may be repeated
    --faults FILE         faults as JSON; read again when the file changes
    --initial-streams N   stream limit until the first valid JWT (default 1)
    --max-streams N       stream limit after it (default 1000)
    --latency MS          delay of each answer (default 0)
    --exit-with-stdin     exit when standard input ends
    --quiet               log nothing but failures
    --help                print this text

  Files in DIR: ca.pem (clients trust it), AuthKey_<KEYID>.p8 (clients sign with it),
  requests.jsonl (one push a line), tokens.json (device tokens, read at start if it is there),
  channels.json (broadcast channels), channels.jsonl (calls about them), broadcasts.jsonl.

  Control calls on the same port: GET, POST, DELETE /simulator/faults; GET /simulator/stats;
  POST, DELETE /simulator/tokens.

  """
