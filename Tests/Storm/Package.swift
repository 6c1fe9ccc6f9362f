// swift-tools-version: 6.2
import PackageDescription

// A million clients that lose their broker at once, in virtual time. A package of its own, so that it can be built in
// release mode whatever the tests are built in: Scripts/storm runs it. The client's reconnect schedule is not public; its
// files are linked into Sources/storm/Client, so that what runs here is what runs in the client.

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
