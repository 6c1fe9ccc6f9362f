// swift-tools-version: 6.2
import PackageDescription

// The target list is the architecture: docs/architecture.md says why each arrow exists,
// and Scripts/check-layers fails when an `import` or a dependency draws one that is not in its table.

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "Courier",
    products: [
        .library(name: "CourierCore", targets: ["CourierCore"]),
        .library(name: "CourierMQTT", targets: ["CourierMQTT"]),
        .library(name: "CourierTesting", targets: ["CourierTesting"]),
        .library(name: "CourierTransport", targets: ["CourierTransport"]),
        .library(name: "MQTTCodec", targets: ["MQTTCodec"]),
        .library(name: "MQTTEngine", targets: ["MQTTEngine"]),
    ],
    targets: [
        .systemLibrary(name: "CLinux"),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),

        .target(name: "CourierCore", swiftSettings: settings),
        .target(
            name: "CourierMQTT", dependencies: ["CourierCore", "CourierTransport", "MQTTCodec", "MQTTEngine"],
            swiftSettings: settings),
        .target(
            name: "CourierTesting", dependencies: ["CourierCore", "CourierTransport", "MQTTCodec"],
            swiftSettings: settings),
        .target(name: "CourierTransport", dependencies: ["CLinux", "COpenSSL"], swiftSettings: settings),
        .target(name: "MQTTCodec", swiftSettings: settings),
        .target(name: "MQTTEngine", dependencies: ["MQTTCodec"], swiftSettings: settings),

        // What tests of several targets share; in no product.
        .target(
            name: "TestSupport", dependencies: ["CourierCore", "CourierTransport", "MQTTCodec"],
            path: "Tests/TestSupport", swiftSettings: settings),
        .testTarget(
            name: "CourierCoreTests", dependencies: ["CourierCore", "TestSupport"], swiftSettings: settings),
        .testTarget(
            name: "CourierMQTTTests",
            dependencies: [
                "CLinux", "CourierCore", "CourierMQTT", "CourierTesting", "CourierTransport", "MQTTCodec", "MQTTEngine",
                "TestSupport",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "CourierTransportTests", dependencies: ["CLinux", "CourierTransport", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "CourierTestingTests",
            dependencies: ["CourierCore", "CourierTesting", "CourierTransport", "MQTTCodec", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "MQTTCodecTests", dependencies: ["MQTTCodec", "TestSupport"], resources: [.copy("Captures")],
            swiftSettings: settings),
        .testTarget(name: "MQTTEngineTests", dependencies: ["MQTTCodec", "MQTTEngine"], swiftSettings: settings),
    ]
)
