// swift-tools-version: 6.2
import PackageDescription

// The same conversations with several brokers, each over several wires. A package of its own, since it is a program and
// not a test of one target: Scripts/interop runs it.

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "CourierInterop",
    dependencies: [.package(name: "Courier", path: "../..")],
    targets: [
        .executableTarget(
            name: "interop",
            dependencies: [
                .product(name: "CourierCore", package: "Courier"), .product(name: "CourierMQTT", package: "Courier"),
                .product(name: "CourierTesting", package: "Courier"),
                .product(name: "CourierTransport", package: "Courier"),
                .product(name: "MQTTCodec", package: "Courier"),
            ],
            swiftSettings: settings)
    ]
)
