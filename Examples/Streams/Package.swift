// swift-tools-version: 6.2
import PackageDescription

// MQTT over pipes, a pseudo-terminal and Foundation streams. README.md describes the example; `Scripts/check-examples`
// runs it.

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "Streams",
    dependencies: [
        .package(name: "Courier", path: "../..")
    ],
    targets: [
        .systemLibrary(name: "CTerminal"),
        .executableTarget(
            name: "Streams",
            dependencies: [
                "CTerminal",
                .product(name: "CourierMQTT", package: "Courier"),
                .product(name: "CourierTesting", package: "Courier"),
                .product(name: "CourierTransport", package: "Courier"),
            ],
            swiftSettings: settings),
    ]
)
