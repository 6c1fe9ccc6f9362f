// swift-tools-version: 6.2
import PackageDescription

// Clients of a real cluster whose nodes are killed. A package of its own, so that it can be built in release mode whatever
// the tests are built in: Scripts/cluster-test runs it.

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "CourierCluster",
    dependencies: [.package(name: "Courier", path: "../..")],
    targets: [
        .executableTarget(
            name: "cluster-test",
            dependencies: [
                .product(name: "CourierCore", package: "Courier"), .product(name: "CourierMQTT", package: "Courier"),
            ],
            swiftSettings: settings)
    ]
)
