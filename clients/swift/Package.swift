// swift-tools-version: 6.2

import PackageDescription

// What an iOS app links. It has no dependencies; all except Sources/RidePulseKit/Apple runs on Linux too.

// Warnings are errors in `make kit-test`, and not here: a newer Xcode must not break an app by one more.
let strict: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
  name: "RidePulseKit",
  platforms: [.iOS("17.2")],
  products: [.library(name: "RidePulseKit", targets: ["RidePulseKit"])],
  targets: [
    .target(name: "RidePulseKit", swiftSettings: strict),
    .testTarget(
      name: "RidePulseKitTests", dependencies: ["RidePulseKit"], swiftSettings: strict),
  ]
)
