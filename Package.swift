// swift-tools-version: 6.2

import PackageDescription

// The package file is the architecture: arrows go down only, siblings do not see each other, and
// `--explicit-target-dependency-import-check error` (see the Makefile) holds it.

let strict: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .strictMemorySafety(),
]

// Of release builds, which `make build` makes; a debug build changes with each edit, and has none.
let commit = Context.environment["RIDEPULSE_COMMIT"] ?? "unknown"

let package = Package(
  name: "RidePulse",
  products: [
    .executable(name: "ridepulse", targets: ["RidePulse"]),
    .executable(name: "apns-simulator", targets: ["APNSSimulator"]),
    .executable(name: "fcm-simulator", targets: ["FCMSimulator"]),
    .executable(name: "ridepulse-bench", targets: ["Bench"]),
    .executable(name: "ridepulse-chaos", targets: ["Chaos"]),
    .executable(name: "ridepulse-cost", targets: ["Cost"]),
  ],
  targets: [
    // Executables.
    .executableTarget(
      name: "RidePulse",
      dependencies: [
        "Base", "RideCore", "Timeline", "Orchestrator", "PostgresStore", "PushClient", "RuleFiles",
        "AdminServer", "LegacyGateway", "LocalStack", "SystemSupport", "Page", "CVersion",
      ],
      swiftSettings: strict),
    .executableTarget(
      name: "APNSSimulator", dependencies: ["SimulatorKit", "Inbox", "RideCore"],
      swiftSettings: strict),
    .executableTarget(
      name: "FCMSimulator", dependencies: ["SimulatorKit", "Inbox", "RideCore"],
      swiftSettings: strict),
    // What simulators show of the messages that they received. It decides nothing about them.
    .target(
      name: "Inbox", dependencies: ["SimulatorKit", "Base", "RideCore", "Timeline", "Page"],
      swiftSettings: strict),
    // What simulators share: HTTP/2 over TLS, faults, records. No line of PushClient.
    .target(
      name: "SimulatorKit", dependencies: ["CNghttp2", "COpenSSL"], swiftSettings: strict),

    .executableTarget(
      name: "Bench",
      dependencies: ["Base", "RideCore", "PostgresStore", "PushClient", "LocalStack"],
      exclude: ["measure_firebase_admin.py"], swiftSettings: strict),
    .executableTarget(
      name: "Cost",
      dependencies: ["Base", "RideCore", "RuleFiles", "PostgresStore", "PushClient", "LocalStack"],
      exclude: ["Rules", "recorded.tsv"], swiftSettings: strict),
    .executableTarget(
      name: "Chaos",
      dependencies: ["Base", "RideCore", "PostgresStore", "LocalStack"],
      swiftSettings: strict),

    // Edges.
    .target(
      name: "PostgresStore",
      dependencies: ["Base", "RideCore", "SystemSupport", "CLibpq", "CMigrations"],
      swiftSettings: strict),
    .target(
      name: "PushClient",
      dependencies: ["Base", "RideCore", "SystemSupport", "CLibcurl", "CNghttp2", "COpenSSL"],
      swiftSettings: strict),
    .target(
      name: "RuleFiles",
      dependencies: ["Base", "RideCore", "Timeline", "SystemSupport", "CLibyaml"],
      swiftSettings: strict),
    .target(
      name: "AdminServer",
      dependencies: ["Base", "RideCore", "SystemSupport", "CMicrohttpd", "Page"],
      swiftSettings: strict),
    .target(
      name: "LegacyGateway", dependencies: ["Base", "RideCore", "SystemSupport", "COpenSSL"],
      swiftSettings: strict),
    .target(name: "LocalStack", swiftSettings: strict),

    // Loops.
    .target(name: "Orchestrator", dependencies: ["Base", "RideCore"], swiftSettings: strict),

    // Rides through time, without a database: stories, tests of rules, recorded days.
    .target(name: "Timeline", dependencies: ["Base", "RideCore"], swiftSettings: strict),

    // Vocabulary.
    .target(name: "RideCore", dependencies: ["Base", "CEL"], swiftSettings: strict),
    .target(name: "CEL", dependencies: ["Base"], swiftSettings: strict),

    // Ground: JSON, records, times, zones, cron; Foundation alone.
    .target(name: "Base", swiftSettings: strict),

    // System.
    .target(name: "SystemSupport", dependencies: ["CSystem", "CZlib"], swiftSettings: strict),
    .target(name: "Page", dependencies: ["CPage"], swiftSettings: strict),

    // C.
    .systemLibrary(
      name: "CLibpq", path: "Sources/SystemLibraries/CLibpq", pkgConfig: "libpq",
      providers: [.apt(["libpq-dev"])]),
    .systemLibrary(
      name: "CLibcurl", path: "Sources/SystemLibraries/CLibcurl", pkgConfig: "libcurl",
      providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(
      name: "COpenSSL", path: "Sources/SystemLibraries/COpenSSL", pkgConfig: "openssl",
      providers: [.apt(["libssl-dev"])]),
    .systemLibrary(
      name: "CNghttp2", path: "Sources/SystemLibraries/CNghttp2", pkgConfig: "libnghttp2",
      providers: [.apt(["libnghttp2-dev"])]),
    .systemLibrary(
      name: "CLibyaml", path: "Sources/SystemLibraries/CLibyaml", pkgConfig: "yaml-0.1",
      providers: [.apt(["libyaml-dev"])]),
    .systemLibrary(
      name: "CMicrohttpd", path: "Sources/SystemLibraries/CMicrohttpd",
      pkgConfig: "libmicrohttpd", providers: [.apt(["libmicrohttpd-dev"])]),
    .systemLibrary(
      name: "CZlib", path: "Sources/SystemLibraries/CZlib", pkgConfig: "zlib",
      providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(name: "CSystem", path: "Sources/SystemLibraries/CSystem"),
    .target(name: "CMigrations", path: "Sources/SystemLibraries/CMigrations"),
    .target(name: "CPage", path: "Sources/SystemLibraries/CPage"),
    .target(
      name: "CVersion", path: "Sources/SystemLibraries/CVersion",
      cSettings: [
        .define("RIDEPULSE_COMMIT", to: "\"\(commit)\"", .when(configuration: .release))
      ]),

    // Tests.
    .target(
      name: "TestSupport", dependencies: ["LocalStack"], path: "Tests/TestSupport",
      swiftSettings: strict),
    .target(
      name: "StoreTestSupport", dependencies: ["LocalStack", "PostgresStore"],
      path: "Tests/StoreTestSupport", swiftSettings: strict),
    .testTarget(
      name: "BaseTests", dependencies: ["Base", "TestSupport"], exclude: ["Cron/Vectors"],
      swiftSettings: strict),
    .testTarget(
      name: "CELTests", dependencies: ["Base", "CEL", "TestSupport"], exclude: ["Vectors"],
      swiftSettings: strict),
    .testTarget(
      name: "RideCoreTests", dependencies: ["Base", "CEL", "RideCore", "Timeline", "TestSupport"],
      exclude: ["Golden"], swiftSettings: strict),
    .testTarget(
      name: "FuzzTests",
      dependencies: [
        "Base", "RideCore", "Timeline", "RuleFiles", "PushClient", "LegacyGateway", "AdminServer",
        "APNSSimulator", "FCMSimulator", "SimulatorKit", "TestSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "OrchestratorTests",
      dependencies: ["Orchestrator", "Base", "RideCore", "Timeline", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "SystemSupportTests", dependencies: ["SystemSupport", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "RuleFilesTests",
      dependencies: ["Base", "RideCore", "Timeline", "RuleFiles", "TestSupport"],
      exclude: ["Former", "Golden", "Held", "Needs", "Recipes", "Schema"],
      swiftSettings: strict),
    .testTarget(
      name: "PostgresStoreTests",
      dependencies: [
        "PostgresStore", "LocalStack", "Base", "RideCore", "StoreTestSupport", "TestSupport",
      ],
      exclude: ["Golden"], swiftSettings: strict),
    .testTarget(
      name: "LegacyGatewayTests",
      dependencies: ["LegacyGateway", "Base", "RideCore", "SystemSupport", "TestSupport"],
      exclude: ["Client"], swiftSettings: strict),
    .testTarget(
      name: "AdminServerTests",
      dependencies: ["AdminServer", "Page", "Base", "RideCore", "SystemSupport", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "LocalStackTests", dependencies: ["LocalStack", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "ChaosTests", dependencies: ["Chaos", "LocalStack", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "CostTests", dependencies: ["Cost", "PostgresStore", "Base", "RideCore"],
      swiftSettings: strict),
    .testTarget(
      name: "PushClientTests",
      dependencies: [
        "PushClient", "Base", "RideCore", "SystemSupport", "COpenSSL", "CNghttp2", "TestSupport",
      ],
      exclude: ["FaultServer", "PostReceiver", "SpanReceiver"], swiftSettings: strict),
    .testTarget(
      name: "InboxTests",
      dependencies: ["Inbox", "SimulatorKit", "Base", "RideCore", "Timeline", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "APNSSimulatorTests", dependencies: ["APNSSimulator", "SimulatorKit", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "FCMSimulatorTests",
      dependencies: [
        "FCMSimulator", "SimulatorKit", "Base", "RideCore", "RuleFiles", "TestSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "RidePulseTests",
      dependencies: [
        "RidePulse", "AdminServer", "Base", "RideCore", "Timeline", "PostgresStore", "PushClient",
        "LocalStack", "RuleFiles", "StoreTestSupport", "TestSupport", "Page",
      ],
      exclude: ["App", "Contract", "Golden", "Kotlin", "Kubernetes", "Legacy", "Page", "Slow"],
      swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)
