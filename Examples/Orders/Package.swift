// swift-tools-version: 6.2
import PackageDescription

// An order service that processes messages with retries. README.md describes the example; `Scripts/check-examples` runs
// it.

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "Orders",
    dependencies: [
        .package(name: "Courier", path: "../..")
    ],
    targets: [
        .executableTarget(
            name: "Orders",
            dependencies: [
                .product(name: "CourierMQTT", package: "Courier"), .product(name: "CourierSQLite", package: "Courier"),
            ],
            swiftSettings: settings)
    ]
)
