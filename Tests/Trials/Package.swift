// swift-tools-version: 6.2
import PackageDescription

// Programs that test Courier for seconds or hours, most of them with real brokers. Scripts with the same names build
// and run them. They are a separate package, so that they are built in release mode even if the tests are built in
// debug mode.

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
        // Many clients, a broker that is stopped and killed, and connections that are cut.
        .executableTarget(
            name: "chaos",
            dependencies: courier("CourierCore", "CourierMQTT", "CourierTransport") + ["CHeap", "TrialSupport"],
            swiftSettings: settings),
        // Reads how much memory malloc has allocated. Its files are links to the same target in Benchmarks.
        .target(name: "CHeap"),
        // Clients of a real broker cluster whose nodes are killed.
        .executableTarget(
            name: "cluster-test", dependencies: courier("CourierCore", "CourierMQTT") + ["TrialSupport"],
            swiftSettings: settings),
        // A process that is killed again and again while it sends and receives.
        .executableTarget(
            name: "crash-test",
            dependencies: courier("CourierCore", "CourierMQTT", "CourierSQLite", "CourierTransport") + ["TrialSupport"],
            swiftSettings: settings),
        // Measures the memory of a client while another process fills its buffers.
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
        // Code that the programs share. The tests of Courier's own package use some of it, too.
        .target(name: "TrialSupport", dependencies: courier("CourierTransport"), swiftSettings: settings),
        // Random walks of a client through its public API against a simple model. A test suite uses the same core.
        .executableTarget(
            name: "walk",
            dependencies: courier("CourierCore", "CourierMQTT", "CourierTransport", "MQTTCodec") + ["TrialSupport"],
            swiftSettings: settings),
    ]
)
