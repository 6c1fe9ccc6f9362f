// swift-tools-version: 6.2
import PackageDescription

// Programs that try Courier out for seconds or hours, most of them against real brokers; the scripts of the same names build
// and run them. A package of its own, so that they are built in release mode whatever the tests are built in.

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

func courier(_ products: String...) -> [Target.Dependency] {
    products.map { .product(name: $0, package: "Courier") }
}

let package = Package(
    name: "CourierTrials",
    dependencies: [.package(name: "Courier", path: "../..")],
    targets: [
        // Clients, a real broker and a network that all suffer.
        .executableTarget(
            name: "chaos",
            dependencies: courier("CourierCore", "CourierMQTT", "CourierTransport") + ["CHeap", "TrialSupport"],
            swiftSettings: settings),
        // What malloc has handed out; links to the same in Benchmarks.
        .target(name: "CHeap"),
        // Clients of a real cluster whose nodes are killed.
        .executableTarget(
            name: "cluster-test", dependencies: courier("CourierCore", "CourierMQTT") + ["TrialSupport"],
            swiftSettings: settings),
        // A process that is killed again and again while it sends and receives.
        .executableTarget(
            name: "crash-test",
            dependencies: courier("CourierCore", "CourierMQTT", "CourierSQLite", "CourierTransport") + ["TrialSupport"],
            swiftSettings: settings),
        // A client that somebody else fills, and its memory.
        .executableTarget(
            name: "flood",
            dependencies: courier("CourierCore", "CourierMQTT", "CourierTesting", "CourierTransport", "MQTTCodec")
                + ["TrialSupport"],
            swiftSettings: settings),
        // The same conversations with several brokers, each over several wires.
        .executableTarget(
            name: "interop",
            dependencies: courier("CourierCore", "CourierMQTT", "CourierTesting", "CourierTransport", "MQTTCodec")
                + ["TrialSupport"],
            swiftSettings: settings),
        // Random walks of the client engine against a model of a server.
        .executableTarget(
            name: "simulate", dependencies: courier("MQTTCodec", "MQTTEngine") + ["TrialSupport"],
            swiftSettings: settings),
        // What they share, some of it with the tests of Courier's own package.
        .target(name: "TrialSupport", dependencies: courier("CourierTransport"), swiftSettings: settings),
        // Random walks of a client through its public API against a naive model. Its core is that of a test suite.
        .executableTarget(
            name: "walk",
            dependencies: courier("CourierCore", "CourierMQTT", "CourierTransport", "MQTTCodec") + ["TrialSupport"],
            swiftSettings: settings),
    ]
)
