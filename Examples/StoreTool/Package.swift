// swift-tools-version: 6.2
import PackageDescription

// Looks into the files of CourierSQLite from a command line, by its public API only. Scripts/store builds and runs it.

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "StoreTool",
    dependencies: [.package(name: "Courier", path: "../..")],
    targets: [
        .executableTarget(
            name: "StoreTool",
            dependencies: [
                .product(name: "CourierCore", package: "Courier"), .product(name: "CourierSQLite", package: "Courier"),
            ],
            swiftSettings: settings)
    ]
)
