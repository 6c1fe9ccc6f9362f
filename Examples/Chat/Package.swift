// swift-tools-version: 6.2
import PackageDescription

// A chat room whose members use tokens that expire. README.md describes the example; `Scripts/check-examples` runs it.

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "Chat",
    dependencies: [
        .package(name: "Courier", path: "../..")
    ],
    targets: [
        .executableTarget(
            name: "Chat",
            dependencies: [
                // The chat members need these products.
                .product(name: "CourierAuthHTTP", package: "Courier"),
                .product(name: "CourierMQTT", package: "Courier"),
                .product(name: "CourierProtobuf", package: "Courier"),
                // The server needs these products.
                .product(name: "CourierTesting", package: "Courier"),
                .product(name: "CourierTransport", package: "Courier"),
                .product(name: "MQTTCodec", package: "Courier"),
            ],
            swiftSettings: settings,
            plugins: [.plugin(name: "CourierProtobufPlugin", package: "Courier")])
    ]
)
