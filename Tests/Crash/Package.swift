// swift-tools-version: 6.2
import PackageDescription

// A process that is killed again and again while it sends and receives: Scripts/crash-test builds it in release mode,
// whatever the tests are built in, and runs it.

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "CourierCrash",
    dependencies: [.package(name: "Courier", path: "../..")],
    targets: [
        .executableTarget(
            name: "crash-test",
            dependencies: [
                .product(name: "CourierCore", package: "Courier"), .product(name: "CourierMQTT", package: "Courier"),
                .product(name: "CourierSQLite", package: "Courier"),
                .product(name: "CourierTransport", package: "Courier"),
            ],
            swiftSettings: settings)
    ]
)
