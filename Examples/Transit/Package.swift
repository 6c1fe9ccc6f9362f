// swift-tools-version: 6.2
import PackageDescription

// The vehicles of a city, live on a map. README.md describes what to try; `Scripts/check-examples` runs it.

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "Transit",
    dependencies: [
        .package(name: "Courier", path: "../..")
    ],
    targets: [
        .executableTarget(
            name: "Transit",
            dependencies: [
                .product(name: "CourierMQTT", package: "Courier"),
                .product(name: "CourierTesting", package: "Courier"),
                .product(name: "CourierTransport", package: "Courier"),
            ],
            resources: [.embedInCode("Web/page.html")],
            swiftSettings: settings)
    ]
)
