// swift-tools-version: 6.2
import PackageDescription

// A pool of workers with a shared subscription. README.md describes the example; `Scripts/check-examples` runs it.

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "Workers",
    dependencies: [
        .package(name: "Courier", path: "../..")
    ],
    targets: [
        .executableTarget(
            name: "Workers", dependencies: [.product(name: "CourierMQTT", package: "Courier")],
            swiftSettings: settings)
    ]
)
