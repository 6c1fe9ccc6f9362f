// swift-tools-version: 6.2
import PackageDescription

// Simulates, in virtual time, a million clients that lose their broker at once. It is a separate package, so that
// Scripts/storm can build it in release mode even if the tests are built in debug mode.
//
// The client's reconnect schedule is not public. Its files are linked into Sources/storm/Client, so that the simulation
// runs the client's own code.

let package = Package(
    name: "CourierStorm",
    targets: [
        .executableTarget(
            name: "storm",
            swiftSettings: [
                .swiftLanguageMode(.v6),
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("MemberImportVisibility"),
            ])
    ]
)
