// swift-tools-version: 6.2
import PackageDescription

// The demo that Scripts/demo runs, and its broker as a separate program.

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "Demo",
    dependencies: [
        .package(name: "Courier", path: "../..")
    ],
    targets: [
        .executableTarget(
            name: "Demo",
            dependencies: [
                .product(name: "CourierCore", package: "Courier"),
                .product(name: "CourierMQTT", package: "Courier"),
                .product(name: "CourierTesting", package: "Courier"),
                .product(name: "CourierTransport", package: "Courier"),
                .product(name: "MQTTCodec", package: "Courier"),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "LocalBroker",
            dependencies: [
                .product(name: "CourierTesting", package: "Courier"),
                .product(name: "CourierTransport", package: "Courier"),
            ],
            swiftSettings: settings),
    ]
)
