// swift-tools-version: 6.2
import PackageDescription

// The packet inspector's page over two clients that talk. `Scripts/check-inspector-page` drives it in a browser.

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "Inspector",
    dependencies: [
        .package(name: "Courier", path: "../..")
    ],
    targets: [
        .executableTarget(
            name: "Inspector",
            dependencies: [
                .product(name: "CourierCore", package: "Courier"),
                .product(name: "CourierMQTT", package: "Courier"),
                .product(name: "CourierMQTTChuck", package: "Courier"),
                .product(name: "CourierMQTTChuckWeb", package: "Courier"),
                .product(name: "CourierTesting", package: "Courier"),
            ],
            swiftSettings: settings)
    ]
)
