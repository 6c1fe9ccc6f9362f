// swift-tools-version: 6.2
import PackageDescription

// This package depends on the root package by path, as an app would. The C targets are peer libraries and measuring
// tools. They are never part of the product.

let settings: [SwiftSetting] = [.swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny")]

let package = Package(
    name: "CourierBenchmarks",
    dependencies: [.package(name: "Courier", path: "..")],
    targets: [
        .target(name: "CAllocationCounter"),
        .target(name: "CPahoPacket", linkerSettings: [.linkedLibrary(":libpaho-mqtt3c.a")]),
        .target(name: "CHeap"),
        .target(name: "CSink"),
        .target(name: "CPeers", linkerSettings: [.linkedLibrary("mosquitto"), .linkedLibrary("paho-mqtt3a")]),
        .target(name: "BenchmarkHarness", dependencies: ["CSink"], swiftSettings: settings),
        .target(name: "BenchmarkKit", dependencies: ["CAllocationCounter"], swiftSettings: settings),
        .executableTarget(
            name: "CodecBenchmark",
            dependencies: [
                "BenchmarkKit", "CPahoPacket", .product(name: "MQTTCodec", package: "Courier"),
                .product(name: "MQTTEngine", package: "Courier"),
            ],
            swiftSettings: settings),
        .target(name: "CProtobufPeer", exclude: ["reading.proto"], linkerSettings: [.linkedLibrary("protobuf-c")]),
        .executableTarget(
            name: "ProtobufBenchmark",
            dependencies: [
                "BenchmarkHarness", "CProtobufPeer", .product(name: "CourierProtobuf", package: "Courier"),
            ],
            exclude: ["generate"], swiftSettings: settings),
        .executableTarget(
            name: "DurableBenchmark",
            dependencies: [
                "BenchmarkHarness", "CPeers", .product(name: "CourierCore", package: "Courier"),
                .product(name: "CourierMQTT", package: "Courier"),
                .product(name: "CourierSQLite", package: "Courier"),
                .product(name: "CourierTransport", package: "Courier"),
            ], swiftSettings: settings),
        .executableTarget(
            name: "RouterBenchmark", dependencies: ["BenchmarkKit", .product(name: "CourierCore", package: "Courier")],
            // The sources of CourierMQTT in this target need this feature, as in their own package.
            swiftSettings: settings + [.enableUpcomingFeature("InternalImportsByDefault")]),
        // Does not use BenchmarkKit, because its counter of heap blocks would slow down every client.
        .executableTarget(
            name: "ThroughputBenchmark",
            dependencies: [
                "BenchmarkHarness", "CPeers", .product(name: "CourierCore", package: "Courier"),
                .product(name: "CourierMQTT", package: "Courier"),
                .product(name: "CourierMQTTChuck", package: "Courier"),
                .product(name: "CourierTransport", package: "Courier"),
                .product(name: "MQTTCodec", package: "Courier"), .product(name: "MQTTEngine", package: "Courier"),
            ], swiftSettings: settings),
        .executableTarget(
            name: "ConnectionBenchmark",
            dependencies: [
                "BenchmarkHarness", "CHeap", "CPeers", .product(name: "CourierCore", package: "Courier"),
                .product(name: "CourierMQTT", package: "Courier"),
            ], swiftSettings: settings),
        .executableTarget(
            name: "WireBenchmark",
            dependencies: [
                "BenchmarkHarness", .product(name: "CourierCore", package: "Courier"),
                .product(name: "CourierMQTT", package: "Courier"),
                .product(name: "CourierTesting", package: "Courier"),
                .product(name: "CourierTransport", package: "Courier"),
            ], swiftSettings: settings),
    ]
)
