// swift-tools-version: 6.2
import PackageDescription

// Two programs whose recordings are joined by trace ids. README.md describes the example;
// `Scripts/check-examples` runs it.

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "Tracing",
    dependencies: [
        .package(name: "Courier", path: "../..")
    ],
    targets: [
        .executableTarget(
            name: "Tracing",
            dependencies: [
                .product(name: "CourierMQTT", package: "Courier"),
                .product(name: "CourierMQTTChuckSQLite", package: "Courier"),
            ],
            swiftSettings: settings)
    ]
)
