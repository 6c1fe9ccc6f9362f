// swift-tools-version: 6.2
import PackageDescription

// The page of the packet inspector, with two clients that exchange messages. `Scripts/check-inspector-page` tests it in
// a browser.

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
