// swift-tools-version: 6.2
import PackageDescription

// Clients, a real broker and a network that all suffer. A package of its own, so that it can be built in release mode
// whatever the tests are built in: Scripts/chaos runs it.

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "CourierChaos",
    dependencies: [.package(name: "Courier", path: "../..")],
    targets: [
        .executableTarget(
            name: "chaos",
            dependencies: [
                .product(name: "CourierCore", package: "Courier"), .product(name: "CourierMQTT", package: "Courier"),
                .product(name: "CourierTransport", package: "Courier"),
            ],
            swiftSettings: settings)
    ]
)
