// swift-tools-version: 6.2
import PackageDescription

// A device that publishes its attitude, and a viewer. README.md describes what to try; `Scripts/check-examples` runs
// it.

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "Motions",
    dependencies: [
        .package(name: "Courier", path: "../..")
    ],
    targets: [
        .executableTarget(
            name: "Motions",
            dependencies: [
                .product(name: "CourierMQTT", package: "Courier"),
                .product(name: "CourierTesting", package: "Courier"),
            ],
            swiftSettings: settings)
    ]
)
